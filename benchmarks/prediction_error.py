#!/usr/bin/env python3
"""Compares predicted times with measured ones: the rank correlation of each matrix, and the rank of the fastest recipe.

    predictions_benchmark DEVICE recipes MATRIX... > predictions.tsv
    workbench bench recipes/*.toml --matrices FOLDER --out bench.jsonl
    prediction_error.py bench.jsonl predictions.tsv [OTHER_PREDICTIONS.tsv ...]
"""
import json
import os
import sys


def ranks(values):
    """Ranks from 0; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for place in range(first, end):
            result[order[place]] = (first + end - 1) / 2
        first = end
    return result


def correlation(a, b):
    """Spearman's rank correlation."""
    x, y = ranks(a), ranks(b)
    mean = (len(x) - 1) / 2
    covariance = sum((i - mean) * (j - mean) for i, j in zip(x, y))
    variances = sum((i - mean) ** 2 for i in x) * sum((j - mean) ** 2 for j in y)
    return covariance / variances ** 0.5 if variances else 0.0


def stem(path):
    return os.path.basename(path).split('.')[0]


def measured_times(file):
    """{matrix: {recipe: microseconds of the fastest kernel}}"""
    times = {}
    with open(file) as lines:
        for line in map(json.loads, lines):
            for run in line.get('runs', [line.get('report', line)]):
                if not isinstance(run.get('kernels'), list):
                    continue
                of_matrix = times.setdefault(stem(run['matrix']['source']), {})
                name = run['recipe']['name'] if isinstance(run['recipe'], dict) else run['recipe']
                for kernel in run['kernels']:
                    if kernel.get('status') != 'measured' or kernel.get('share') or (kernel.get('baseline') and name != 'CSR'):
                        continue
                    seconds = kernel['median_seconds']
                    of_matrix[name] = min(1e6 * seconds, of_matrix.get(name, float('inf')))
    return times


def predicted_times(file):
    times = {}
    with open(file) as lines:
        for line in lines:
            cells = line.rstrip('\n').split('\t')
            if len(cells) > 5 and not cells[5]:
                times.setdefault(stem(cells[0]), {})[cells[1]] = float(cells[2])
    return times


def main():
    measured = measured_times(sys.argv[1])
    predictions = [predicted_times(file) for file in sys.argv[2:]]
    print('| matrix | recipes |' + ' rank correlation | rank of the fastest |' * len(predictions))
    print('|---|--:|' + '--:|--:|' * len(predictions))
    sums = [0.0] * len(predictions)
    count = 0
    for matrix in sorted(measured):
        recipes = [r for r in sorted(measured[matrix]) if all(r in p.get(matrix, {}) for p in predictions)]
        if len(recipes) < 3:
            continue
        times = [measured[matrix][r] for r in recipes]
        fastest = times.index(min(times))
        cells = []
        for number, prediction in enumerate(predictions):
            predicted = [prediction[matrix][r] for r in recipes]
            found = correlation(times, predicted)
            sums[number] += found
            cells.append(f'{found:.2f} | {1 + sum(p < predicted[fastest] for p in predicted)}')
        count += 1
        print(f'| {matrix} | {len(recipes)} | ' + ' | '.join(cells) + ' |')
    print(f'| mean of {count} | | ' + ' | '.join(f'{s / max(count, 1):.2f} | ' for s in sums) + ' |')


if __name__ == '__main__':
    main()
