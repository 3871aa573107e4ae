#!/usr/bin/env bash
# run --distributed and solve --distributed: output, files, errors, and the end of all ranks when one dies.
#   command_test.sh WORKBENCH MPIRUN SOURCES
set -uo pipefail
workbench=$1
mpirun=$2
sources=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

# expect NAME EXIT_CODE REGEX COMMAND...: checks the exit code and that a line of the output matches.
expect() {
    local name=$1 wanted=$2 pattern=$3
    shift 3
    timeout 120 "$@" >output.txt 2>&1
    local found=$?
    if [[ $found != "$wanted" ]] || ! grep -qE -- "$pattern" output.txt; then
        echo "FAILED: $name: exit code $found, expected $wanted, and a line that matches: $pattern"
        sed 's/^/    /' output.txt
        failed=1
    fi
}

# nowhere NAME REGEX: checks that no line of the last output matches.
nowhere() {
    if grep -qE -- "$2" output.txt; then
        echo "FAILED: $1: a line matches $2"
        sed 's/^/    /' output.txt
        failed=1
    fi
}

over() { echo "$mpirun" -n "$1" "$workbench"; }
run2=($(over 2) run --distributed --samples 2)
csr=$sources/recipes/csr.toml
grid=(--generate laplace2d:nx=30)

expect "a product of two ranks" 0 'Verified across ranks: exact on [0-9]+ integer vectors' "${run2[@]}" "$csr" "${grid[@]}" --out a
expect "its report" 0 '"elements_received": 30' cat a/distributed.json
if [[ $(grep -c '"rows": 450' a/distributed.json) != 2 ]]; then
    echo "FAILED: two ranks of 450 rows"
    failed=1
fi
expect "one rank without mpirun" 0 'over 1 rank in equal pieces' "$workbench" run --distributed "$csr" "${grid[@]}" --samples 2
expect "a recipe of stages for each inside share" 0 'layout ehyb' $(over 4) run --distributed --samples 2 "$sources/recipes/ehyb.toml" "${grid[@]}"
expect "f32" 0 'kernel .*, f32' "${run2[@]}" "$csr" "${grid[@]}" --precision f32
expect "parts of a graph" 0 'in parts of metis_partition' $(over 3) run --distributed --samples 2 --rows-to-ranks metis "$csr" "${grid[@]}"
expect "more ranks than rows" 0 'over 4 ranks' $(over 4) run --distributed --samples 2 "$csr" --generate laplace2d:nx=1,ny=2
expect "rectangular" 0 '60 x 40, ' "${run2[@]}" "$csr" --generate random_uniform:rows=60,columns=40,shortest=0,longest=9
expect "JSON on standard output" 0 '^\{$' "${run2[@]}" "$csr" "${grid[@]}" --json -
if ! python3 -c 'import json; json.load(open("output.txt"))' 2>/dev/null && command -v python3 >/dev/null; then
    echo "FAILED: what --json - prints is not JSON"
    failed=1
fi

"$workbench" generate laplace2d:nx=30 -o grid.mtx >/dev/null
"$workbench" generate laplace2d:nx=30 -o grid.npz >/dev/null
expect "a text file, read by rank 0" 0 'grid.mtx: 900 x 900' "${run2[@]}" "$csr" --matrix grid.mtx
expect "an .npz file, read by all ranks" 0 'grid.npz: 900 x 900' "${run2[@]}" "$csr" --matrix grid.npz

for ranks in 1 2 3; do
    expect "a solve of $ranks ranks" 0 'converged: [0-9]+ iterations' $(over $ranks) solve --distributed "$csr" "${grid[@]}" --out "s$ranks"
    grep -o '"iterations": [0-9]*' "s$ranks/distributed.json" >>iterations.txt
done
# Equal up to rounding.
if [[ $(sort -u iterations.txt | wc -l) -gt 2 ]]; then
    echo "FAILED: iterations of 1, 2 and 3 ranks:" && cat iterations.txt
    failed=1
fi
expect "a solve that does not converge" 5 'iteration limit' $(over 2) solve --distributed "$csr" "${grid[@]}" --iterations 3

once() {
    if [[ $(grep -c '^error:' output.txt) != 1 ]]; then
        echo "FAILED: the message comes once" && cat output.txt
        failed=1
    fi
}
expect "a missing matrix: one message" 3 '^error: .*no-such.mtx' "${run2[@]}" "$csr" --matrix no-such.mtx
once
KOKKOS_NUM_THREADS=0 expect "a wrong number of threads: one message" 2 "^error: the environment variable KOKKOS_NUM_THREADS is '0'" "${run2[@]}" "$csr" "${grid[@]}"
once
expect "one rank cannot read it" 3 '^error: rank 1 of 2 finds another matrix than rank 0, or none' \
    "$mpirun" -n 1 "$workbench" run --distributed "$csr" --matrix grid.npz : -n 1 "$workbench" run --distributed "$csr" --matrix no-such.mtx
expect "a system that is not square" 3 'needs a square matrix' $(over 2) solve --distributed "$csr" --generate random_uniform:rows=60,columns=40,shortest=0,longest=9
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -3\n2 1 -2\n2 2 1\n' >odd.mtx
expect "a matrix that is not symmetric" 7 '^note: the matrix is not symmetric' "$workbench" solve --distributed "$csr" --matrix odd.mtx
nowhere "only cg is distributed" bicgstab
sed 's/-2$/nan/' odd.mtx >nan.mtx
expect "a matrix that is not finite" 3 '^error: the matrix has nan in row 1 and column 0' "$workbench" solve --distributed "$csr" --matrix nan.mtx
echo '[layout]' >empty.toml
expect "a recipe with a mistake" 2 '^error: .*empty.toml' "$workbench" solve --distributed empty.toml
nowhere "an error of an error" 'error: error'
expect "a layout that does not suit" 3 '^error: rank.* of 4: .*diagonals' $(over 4) run --distributed "$sources/recipes/dia.toml" --generate rmat:scale=10
expect "two recipes" 2 'takes one recipe; found 2' "${run2[@]}" "$csr" "$sources/recipes/sell.toml" "${grid[@]}"
expect "preparing on a GPU" 2 '--distributed cannot prepare on a GPU' "${run2[@]}" "$csr" "${grid[@]}" --prepare gpu
expect "a recipe that asks for it" 2 '--distributed cannot prepare on a GPU; use --prepare cpu' "${run2[@]}" "$csr" "${grid[@]}" --set recipe.prepare=gpu
expect "--prepare overrides the recipe" 0 '' "${run2[@]}" "$csr" "${grid[@]}" --set recipe.prepare=gpu --prepare cpu
expect "another method" 2 'supports --method cg only' $(over 2) solve --distributed --method bicgstab "$csr" "${grid[@]}"
expect "a disk that is full" 4 '^error: rank 0 of 2: /dev/full' "${run2[@]}" "$csr" "${grid[@]}" --json /dev/full
expect "--rows-to-ranks alone" 2 'distributed' "$workbench" run "$csr" "${grid[@]}" --rows-to-ranks metis
# A matrix too large for one rank fits on four.
large=("$csr" --generate elasticity3d:nx=24 --max-memory 140M --samples 1)
expect "too large for one rank" 4 'needs [0-9]+ bytes of memory' $(over 1) run --distributed "${large[@]}"
expect "not too large for four" 0 'over 4 ranks' $(over 4) run --distributed "${large[@]}"
mkdir alone && cp "$workbench" alone/
expect "without MPI" 4 'needs MPI' alone/workbench run --distributed "$csr" "${grid[@]}"

# Killing one rank of a long solve ends all ranks.
"$mpirun" -n 2 "$workbench" solve --distributed "$csr" --generate laplace2d:nx=400 --tolerance 1e-300 --iterations 10000000 \
    --patience 10000000 --out killed >output.txt 2>&1 &
launcher=$!
victim=
for _ in $(seq 100); do
    sleep 0.1
    victim=$(pgrep -P "$launcher" | tail -1)
    [[ -n $victim ]] && break
done
sleep 2
kill -9 "$victim"
for _ in $(seq 200); do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.1
done
if kill -0 "$launcher" 2>/dev/null; then
    echo "FAILED: a rank that dies leaves the others waiting"
    kill -9 $(pgrep -P "$launcher") "$launcher"
    failed=1
else
    wait "$launcher"
    code=$?
    if [[ $code == 0 ]] || ! grep -qi 'signal 9' output.txt; then
        echo "FAILED: a rank that dies: exit code $code, and:" && cat output.txt
        failed=1
    fi
    if [[ -e killed/distributed.json ]]; then
        echo "FAILED: a run whose rank died left a report"
        failed=1
    fi
fi
exit $failed
