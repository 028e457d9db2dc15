#!/usr/bin/env bash
#SBATCH --job-name=csaw
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gpus-per-node=6
#SBATCH --exclusive
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
# csaw on one node with six GPUs. A sample that the time limit cuts off goes back to the queue and is resumed; finished groups are kept.
#
#   GRAPH=web.zarr OUT=walks.zarr OPTIONS="--algo node2vec --p 0.5 --q 2" sbatch scripts/slurm.sh
#   JOB=bench OUT=node.json sbatch scripts/slurm.sh
#
# OPTIONS follow csaw's own; GPUS=0,1 takes fewer. A bench measures walks and neighbors on the first GPU, one to all GPUs of the node
# side by side, and a whole run on one and on all of them.
# Tested with stand-ins for Slurm's commands; no Slurm cluster has run it.
set -euo pipefail
gpus="${GPUS:-0,1,2,3,4,5}"
read -ra options <<< "${OPTIONS:-}"
if [ "${JOB:-sample}" = bench ]; then
  command=(csaw bench --suite overview,walks,neighbors,scaling --device "cuda:$gpus" --export-json "${OUT:?a file for the figures}" "${options[@]}")
else
  command=(csaw sample "${GRAPH:?a graph}" "${OUT:?a folder for the sample}" --device "cuda:$gpus" "${options[@]}")
  if [ -e "$OUT.partial" ]; then command+=(--resume); fi
fi

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
