#!/bin/sh
# Wheel and sdist of this folder into environments of their own, bare: they import, and name the extra that is missing.
#     tests/dist_check.sh PYTHON FOLDER
set -eu
python=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
"$python" -m venv "$folder/builder"
"$folder/builder/bin/python" -m pip install --quiet --disable-pip-version-check build
"$folder/builder/bin/python" -m build --outdir "$folder" . > "$folder/build.log" || { cat "$folder/build.log"; exit 1; }
for made in "$folder"/*.whl "$folder"/*.tar.gz; do
    echo "== $made"
    own="$folder/$(basename "$made").venv"
    "$python" -m venv "$own"
    "$own/bin/python" -m pip install --quiet --disable-pip-version-check "$made"
    # From another folder: what is imported is what was installed.
    bin=$(cd "$own/bin" && pwd)
    (
        cd "$own"
        "$bin/python" -c "import prepex; assert '$own' in prepex.__file__, prepex.__file__; print(prepex.__version__)"
        "$bin/prepex" --version
        "$bin/prepex" pareto snw > /dev/null
        echo nonsense > bad.json
        status=0; "$bin/prepex" verify bad.json || status=$?
        test $status -eq 2
        refuses() {
            status=0; said=$("$bin/prepex" "$@" 2>&1) || status=$?
            echo "$said"
            test $status -eq 2
            test "$(echo "$said" | wc -l)" -eq 1
        }
        refuses study list | grep -F "pip install 'prepex[study]'"
        refuses serve | grep -F "pip install 'prepex[server]'"
        refuses pareto snw --plot x.png | grep -F "pip install 'prepex[plot]'"
        refuses run covboost --save x.parquet | grep -F "pip install 'prepex[frame]'"
    )
done
echo "wheel and sdist are fine"
