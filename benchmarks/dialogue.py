"""Hidden cones: how many answers until the Pareto set is that of the hidden cone, by the dialogue and by random pairs?

And contradictions, planted into truthful dialogues: is each found, and named by a set with nothing to spare?
"""

import numpy as np

from prepex import ClashError, Cone, Dialogue, better
from prepex.preferences import find_clash, neither

CONES, ARMS = 100, 15


def hidden(rng: np.random.Generator, L: int) -> Cone:
    """More of everything is better, and rates between objectives are bounded at random."""
    tilt = rng.uniform(0.0, 0.6, (L, L)) * rng.uniform(0.2, 1.0)
    np.fill_diagonal(tilt, 0.0)
    return Cone.from_facets(np.eye(L) + tilt)


def options(rng: np.random.Generator, L: int) -> np.ndarray:
    """A front that bulges, and some options behind it."""
    x = np.abs(rng.normal(size=(ARMS, L)))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(0.85, 1.0, (ARMS, 1))


def truth(cone: Cone, a: np.ndarray, b: np.ndarray) -> str:
    if cone.dominates(a, b):
        return "left"
    return "right" if cone.dominates(b, a) else "neither"


def answers(cone: Cone, means: np.ndarray, way: str, rng: np.random.Generator) -> int | None:
    """Until the options that are left are the hidden cone's; None: it never got there."""
    talk = Dialogue(means)
    wanted = {f"arm {k}" for k in np.flatnonzero(cone.pareto_mask(means))}
    asked: set[tuple[int, int]] = set()
    for n in range(ARMS * ARMS // 2):
        if set(talk.left) == wanted:
            return n
        if way == "dialogue":
            pair = talk.question()
            if pair is None:
                return None
            i, j = (talk.labels.arms.index(name) for name in pair)
        else:
            among = [talk.labels.arms.index(name) for name in talk.left] if way == "front" else range(ARMS)
            free = [(i, j) for i in among for j in among if i < j and (i, j) not in asked]
            if not free:
                return None
            i, j = free[rng.integers(len(free))]
        asked.add((min(i, j), max(i, j)))
        talk.say(i, j, truth(cone, means[i], means[j]))
    return None


def contradictions(n: int = 100) -> None:
    found = named = 0
    for seed in range(n):
        rng = np.random.default_rng(np.random.SeedSequence([17, seed]))
        L = int(rng.integers(2, 5))
        cone, means = hidden(rng, L), options(rng, L)
        said = []
        while len(said) < 12:
            i, j = rng.choice(ARMS, 2, replace=False)
            answer = truth(cone, means[i], means[j])
            pair = (means[i], means[j]) if answer != "right" else (means[j], means[i])
            said.append(neither(*pair) if answer == "neither" else better(*pair))
        clear = [entry for entry in said if entry.clear] or [better(means[0] + 1.0, means[0])]
        said += clear[:1] if not any(entry.clear for entry in said) else []
        # The opposite of a sum of what was said: no single statement is contradicted.
        parts = [clear[k] for k in rng.choice(len(clear), min(len(clear), int(rng.integers(1, 3))), replace=False)]
        back = sum(np.subtract(entry.other, entry.one) for entry in parts)
        said.insert(int(rng.integers(len(said) + 1)), better(means[0] + back, means[0]))
        names = tuple(f"objective {q}" for q in range(L))
        try:
            Cone.from_preferences(names, said)
        except ClashError as error:
            found += 1
            d = np.array([np.subtract(said[k].one, said[k].other) for k in error.statements])
            chosen = [said[k] for k in error.statements]
            spare = [k for k in range(len(chosen)) if find_clash(chosen[:k] + chosen[k + 1 :], np.delete(d, k, axis=0))]
            named += not spare
    print(f"contradictions: {found} of {n} found, {named} of {n} named by a set with nothing to spare")


def main(n: int = CONES) -> None:
    print(f"{n} hidden cones, {ARMS} options: mean answers until the Pareto set is right (never: not counted)")
    print("objectives   dialogue   random of those left   random of all   dialogue / random of all")
    for L in (2, 3, 4):
        means: dict[str, list[int]] = {"dialogue": [], "front": [], "all": []}
        never = dict.fromkeys(means, 0)
        for seed in range(n):
            for way in means:
                rng = np.random.default_rng(np.random.SeedSequence([15, L, seed]))
                cone, table = hidden(rng, L), options(rng, L)
                took = answers(cone, table, way, rng)
                if took is None:
                    never[way] += 1
                else:
                    means[way].append(took)
        size = {way: float(np.mean(took)) for way, took in means.items()}
        print(
            f"{L:10}   {size['dialogue']:8.1f}   {size['front']:20.1f}   {size['all']:13.1f}   "
            f"{size['dialogue'] / size['all']:.2f}   never: {never}"
        )
    contradictions()
