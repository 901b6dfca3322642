"""What was compiled in a window: by torch.compile, and by external compilers such as neuronx-cc."""
