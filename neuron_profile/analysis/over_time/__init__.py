"""What stands out on a timeline: regions, warnings, busy and idle times of devices."""
