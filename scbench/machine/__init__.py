"""Access to the machine: sandboxed children, processes, folders and files."""
