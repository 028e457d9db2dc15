"""What measures compute on a GPU, a file each; the twins are in engine/cpu/analytics."""
