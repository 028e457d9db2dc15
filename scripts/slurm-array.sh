#!/usr/bin/env bash
#SBATCH --job-name=csaw
#SBATCH --array=0-15
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
# One sample by the tasks of an array job, each on a node of its own: a task draws a shard, and the last one seals the store. A task that the
# time limit cuts off goes back to the queue and goes on; finished groups are kept. GRAPH and OUT lie on a file system that all nodes share.
#
#   GRAPH=web.zarr OUT=walks.zarr OPTIONS="--algo node2vec --p 0.5 --q 2" sbatch --array=0-15 scripts/slurm-array.sh
#   SHARDS=16 GRAPH=web.zarr OUT=walks.zarr OPTIONS="..." sbatch --array=3,7 scripts/slurm-array.sh     # some of them again
#   GRAPH=web.zarr OUT=walks.zarr OPTIONS="--device cuda:0,1,2,3" sbatch --array=0-15 --gpus-per-node=4 scripts/slurm-array.sh     # nodes with four GPUs
#
# OPTIONS follow csaw's own.
# Tested with stand-ins for Slurm's commands; no Slurm cluster has run it.
set -euo pipefail
read -ra options <<< "${OPTIONS:-}"
shards="${SHARDS:-$SLURM_ARRAY_TASK_COUNT}"
command=(csaw sample "${GRAPH:?a graph}" "${OUT:?a folder for the sample}" --shard "$SLURM_ARRAY_TASK_ID/$shards" "${options[@]}")

cut_off=""
trap 'cut_off=1; kill -TERM "$child"' TERM
srun --ntasks=1 "${command[@]}" &
child=$!
status=0
wait "$child" || status=$?
if [ -n "$cut_off" ]; then wait "$child" || status=$?; fi
if [ -n "$cut_off" ] && [ -e "$OUT.partial" ]; then
  exec scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
