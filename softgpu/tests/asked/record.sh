#!/bin/sh
# Asks a GPU what PTX leaves open, and keeps its answers: softgpu/tests/asked/record.sh, in this folder.
set -e
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > golden/card.txt
work=$(mktemp -d)
for program in blocks clusters ended masks parities waits; do
    nvcc -std=c++17 -w -gencode arch=compute_90a,code=sm_90a -o "$work/$program" $program.cu -lcuda
done
"$work/blocks" > golden/blocks.txt
"$work/parities" > golden/parities.txt
"$work/waits" many > golden/waits.txt
for how in 0 1 2 3 4; do "$work/ended" "$how"; done > golden/ended.txt
last=$(("$("$work/clusters")" - 1))
for question in $(seq 0 "$last"); do timeout 10 "$work/clusters" "$question"; done > golden/clusters.txt
for mask in $(seq 0 11); do
    for operation in $(seq 0 27); do timeout 10 "$work/masks" "$mask" "$operation"; done
done > golden/masks.txt
