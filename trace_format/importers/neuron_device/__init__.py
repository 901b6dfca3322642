"""What every file about a Neuron device becomes: the same tracks, slices and counters, whoever wrote the file.

- `engines`: the five engines, and what each source calls them.
- `clocks`: what the clocks of each generation are, for what is counted in cycles.
- `tracks`: where instructions, packets, semaphores and throttling go.
- `activity`: counters worked out from instructions and packets.
- `execution`: the slice that stands for one run of a NEFF on a logical core, and the facts it carries.

The rows, for those who write and those who read them:

- An instruction is a slice of its engine's track: `name` its opcode ("MATMUL"), category `compute`, or `semaphore` for
  EVENT_SEMAPHORE, which waits and does no work; `ts_ps`, `dur_ps`, `wait_ns`, `pc`, `flops` where known. Its arguments
  are those of its place in the program and shared by all that ran there: `opcode`, `operands`, `instruction_type`
  (REGULAR or TRANSPOSE), `elements`, `hbm_read_bytes`, `hbm_write_bytes`, `compiler_pc`, `bir_id`,
  `bir_instruction_name`, `penguin_id`, `hlo_name`, `layer`, ... by the names of AWS's JSON; `waits_for`, the condition
  at the head of the operands, is our own.
- A DMA packet is a slice of its queue's track: `name` the queue's, category `dma`, `bytes` what it moved,
  `source_category` its class (instruction, data, input, output, software_dynamic, hardware_dynamic, unknown);
  arguments `dma_engine`, `dma_queue`. A row that sums up others (AWS's `aggregated`) is no packet and an instant.
- A throttle interval is a slice of the throttle track: category `overhead`, arguments `k`, `n`, `type`; the limit is
  k/n.
- A semaphore's value is a row of `counters` on its track.
- A run is a slice of the Executions track with the facts of `execution.Execution` as arguments. Rows of a profile
  belong to the run in whose time they start.
- `metadata["device_time_zero_ns"]` is the `ts_ns` at which the first run began: what AWS's tool shows as time 0.
"""
