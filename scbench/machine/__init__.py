"""What touches the machine: sandboxed children, processes, folders and files."""
