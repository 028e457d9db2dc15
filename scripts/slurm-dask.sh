#!/usr/bin/env bash
#SBATCH --job-name=csaw
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
# One sample by the nodes of one job, with a Dask worker on each. A job that the time limit cuts off goes back to the queue and is resumed; finished
# groups are kept. GRAPH and OUT lie on a file system that all nodes share, and so does the folder of this job, for the scheduler's file.
#
#   GRAPH=web.zarr OUT=walks.zarr OPTIONS="--algo node2vec --p 0.5 --q 2" sbatch --nodes=16 scripts/slurm-dask.sh
#   GRAPH=web.zarr OUT=walks.zarr OPTIONS="--algo node2vec --device cuda" sbatch --nodes=16 --ntasks-per-node=4 --gpus-per-task=1 scripts/slurm-dask.sh
#
# THREADS is the number of a worker's threads (default: its processors). OPTIONS follow csaw's own.
# Tested with stand-ins for Slurm's commands; no Slurm cluster has run it.
set -euo pipefail
read -ra options <<< "${OPTIONS:-}"
file="${PWD}/csaw-scheduler-$SLURM_JOB_ID.json"
threads="${THREADS:-${SLURM_CPUS_PER_TASK:-$((${SLURM_CPUS_ON_NODE:-1} / ${SLURM_NTASKS_PER_NODE:-1}))}}"
command=(csaw sample "${GRAPH:?a graph}" "${OUT:?a folder for the sample}" --cluster "$file" "${options[@]}")
if [ -e "$OUT.partial" ]; then command+=(--resume); fi

rm -f "$file"
dask scheduler --port 0 --no-dashboard --scheduler-file "$file" &
scheduler=$!
while [ ! -e "$file" ] && kill -0 "$scheduler" 2>/dev/null; do sleep 0.2; done
srun dask worker --scheduler-file "$file" --nthreads "$threads" --no-dashboard --local-directory "${TMPDIR:-/tmp}" &
workers=$!
trap 'kill "$workers" "$scheduler" 2>/dev/null || true; rm -f "$file"' EXIT

cut_off=""
trap 'cut_off=1; kill -TERM "$child"' TERM
"${command[@]}" &
child=$!
status=0
wait "$child" || status=$?
if [ -n "$cut_off" ]; then wait "$child" || status=$?; fi
if [ -n "$cut_off" ] && [ -e "$OUT.partial" ]; then
  scontrol requeue "$SLURM_JOB_ID"
  exit 0
fi
exit "$status"
