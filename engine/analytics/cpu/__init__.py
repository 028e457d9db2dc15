"""What measures compute on the CPU, a file each; the twins are in engine/cuda/analytics."""
