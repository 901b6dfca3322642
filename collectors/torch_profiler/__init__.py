"""Everything torch.profiler records: read by the fast route, or by way of its file for older torch."""
