"""Trials of commands, in threads of their own: fill in, prepare, run, measure."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from prepex.errors import InputError
from prepex.racing.measures import UnmeasuredError
from prepex.racing.opening import Task
from prepex.racing.options import fill
from prepex.racing.plan import Plan
from prepex.racing.trial import BrokenRunError, Result, Runs


class Commands:
    """Runs the trials of a plan, as many at once as it has jobs."""

    def __init__(self, plan: Plan) -> None:
        if not hasattr(os, "wait4"):
            raise InputError(f"races of commands must run on Linux, macOS or another Unix, got {os.name!r}")
        self.plan, self.runs = plan, Runs()
        self._options = {option.name: option for option in plan.options}
        self._pool = ThreadPoolExecutor(max_workers=plan.jobs, thread_name_prefix="trial")
        self._kinds = {measure.kind for measure in plan.measures}

    def start(self, task: Task) -> "Future[Result]":
        """Begin one."""
        return self._pool.submit(self.trial, task)

    def stop(self) -> bool:
        """End all that is running."""
        self.runs.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        return True

    def warm_up(self) -> Iterator[str]:
        """Runs of every option that do not count; names each as it begins. One that fails ends the race."""
        from prepex.racing.book import FailedTrialError

        for turn in range(self.plan.warmup):
            for option in self.plan.options:
                yield option.name
                result = self.trial(Task(option.name, "warmup", turn))
                if result.problem is not None and not self.plan.question.failed:
                    raise FailedTrialError(f"option {option.name!r} failed in its warm-up: {result.failure}")

    def trial(self, task: Task) -> Result:
        """One trial, here and now."""
        option, seed = self._options[task.option], task.seed(self.plan.question.seed)
        values = {**option.parameters, "seed": str(seed)}
        if self.plan.inputs:
            drawn = np.random.default_rng(np.random.SeedSequence([seed, 1])).integers(len(self.plan.inputs))
            values["input"] = self.plan.inputs[int(drawn)]
        env = {key: fill(value, values) for key, value in {**self.plan.env, **option.env}.items()}
        try:
            if option.prepare is not None:
                self._prepare(fill(option.prepare, values), env)
            record, words = self.runs.run(
                fill(option.command, values),
                shell=self.plan.shell,
                env=env,
                folder=self.plan.folder,
                timeout=self.plan.timeout,
                memory="memory" in self._kinds,
            )
        except BrokenRunError as error:
            return Result(problem=str(error), words=error.words, seconds=error.seconds)
        found, problem = {}, None
        if record.code != 0 and "exit" not in self._kinds:
            problem = _status_words(record.code, words)
        for measure in self.plan.measures:
            try:
                found[measure.name] = measure.read(record, values, self.plan.folder)
            except UnmeasuredError as error:
                problem = problem or str(error)
        if problem is not None and self.plan.question.failed:
            # What stands for a failure stands in place of what was measured of it.
            found = {name: value for name, value in found.items() if name not in self.plan.question.failed}
        return Result(found, problem, words, record.seconds)

    def _prepare(self, command: str, env: dict[str, str]) -> None:
        record, words = self.runs.run(command, shell=True, env=env, folder=self.plan.folder)
        if record.code != 0:
            raise BrokenRunError(f"its preparation, {command!r}, ended with exit status {record.code}", words)


def _status_words(code: int, words: str) -> str:
    if code == 127:
        return "its command does not exist (exit status 127)"
    return f"it ended with exit status {code}" if code >= 0 else f"it was ended by signal {-code}"
