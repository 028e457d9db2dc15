"""What commands say: plans, reports, tables, closing lines."""
