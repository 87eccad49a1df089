"""A program that makes each attack in a separate process and prints how it ended.

It runs in the sandbox, with only the standard library. The test puts ``NUMBERS`` before this text:
the numbers of system calls that no library offers. A successful attack returns its result; the
text "signal 31" means that the filter ended it.
"""

import contextlib
import errno
import fcntl
import json
import mmap
import os
import platform
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path


def is_open(number):
    with contextlib.suppress(OSError):
        return fcntl.fcntl(number, fcntl.F_GETFD) != -1


HANDED = [number for number in range(3, 64) if is_open(number)]
ctypes = import_module("ctypes")  # only now, since the library below it may open a file
NUMBERS = globals().get("NUMBERS", {})
LIBC = ctypes.CDLL(None, use_errno=True)
ATTACKS = {}


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def told(result):
    """Return the result of a C library function, or raise the error that it set."""
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return f"it returned {result}"


def call(name, *arguments):
    return told(LIBC.syscall(*map(ctypes.c_long, (NUMBERS[name], *arguments))))


# ---- Memory that no limit counts ----


@attack
def shared_memory_hoard():
    LIBC.shmat.restype = ctypes.c_void_p
    held = 0
    for _ in range(3):
        number = LIBC.shmget(0, 2**30, 0o1600)
        if number == -1:
            return told(-1)
        place = LIBC.shmat(number, None, 0)
        LIBC.shmctl(number, 0, None)
        ctypes.memset(place, 1, 2**20)
        LIBC.shmdt(ctypes.c_void_p(place))
        held += 1
    return f"{held} GiB"


@attack
def memory_file_hoard():
    file = os.memfd_create("hoard")
    os.write(file, b"x" * 2**20)
    return "1 MiB of each of many"


@attack
def message_queue():
    return told(LIBC.msgget(0, 0o1600))


@attack
def semaphores():
    return told(LIBC.semget(0, 100, 0o1600))


@attack
def sparse_file():
    Path("sparse").touch()
    os.truncate("sparse", 2**40)


@attack
def empty_files():
    made = []
    try:
        for number in range(10_000):
            made.append(Path(f"empty{number}"))
            made[-1].touch()
    finally:
        for file in made:
            file.unlink(missing_ok=True)


# ---- Traces that answers could leave for each other ----


@attack
def key_left():
    return call("add_key", *map(address, (b"user", b"note", b"left")), 4, -4)


@attack
def key_read():
    return call("request_key", *map(address, (b"user", b"note")), 0, 0)


@attack
def keyring():
    return call("keyctl", 0, -4, 0)


def address(text):
    held = ctypes.create_string_buffer(text)
    address.held = [*getattr(address, "held", []), held]
    return ctypes.addressof(held)


# ---- Deep into the kernel ----


@attack
def nested_user_namespace():
    return told(LIBC.unshare(0x10000000))


@attack
def cloned_user_namespace():
    child = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    os._exit(0) if child == "it returned 0" else None
    return child


@attack
def clone3_with_flags():
    arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, signal.SIGCHLD)
    child = call("clone3", ctypes.addressof(arguments), 64)
    os._exit(0) if child == "it returned 0" else None
    return child


@attack
def entering_a_namespace():
    return told(LIBC.setns(0, 0))


@attack
def mount():
    return told(LIBC.mount(b"none", b"/", b"tmpfs", 0, None))


@attack
def mounted_processes():
    return told(LIBC.mount(b"proc", b"/.private", b"proc", 0, None))


@attack
def new_mount_calls():
    return call("fsopen", address(b"tmpfs"), 0)


@attack
def pivot_root():
    return told(LIBC.pivot_root(b".", b"."))


@attack
def chroot():
    return told(LIBC.chroot(b"."))


@attack
def traced_parent():
    return told(LIBC.ptrace(0x4206, os.getppid(), 0, 0))


@attack
def traced_itself():
    return told(LIBC.ptrace(0, 0, 0, 0))


@attack
def memory_of_the_parent():
    return call("process_vm_readv", os.getppid(), 0, 0, 0, 0, 0)


@attack
def memory_of_the_parent_written():
    return call("process_vm_writev", os.getppid(), 0, 0, 0, 0, 0)


@attack
def bpf():
    return call("bpf", 0, 0, 0)


@attack
def perf_events():
    attributes = (ctypes.c_uint32 * 32)(1, 128)
    return call("perf_event_open", ctypes.addressof(attributes), 0, -1, -1, 0)


@attack
def io_uring():
    settings = (ctypes.c_uint32 * 30)()
    return call("io_uring_setup", 8, ctypes.addressof(settings))


@attack
def page_faults():
    return call("userfaultfd", 1)


@attack
def file_handle():
    return call("open_by_handle_at", -1, 0, 0)


@attack
def another_kernel():
    return call("kexec_load", 0, 0, 0, 0)


@attack
def kernel_module():
    return call("init_module", 0, 0, 0)


@attack
def kernel_module_from_a_file():
    return call("finit_module", 0, 0, 0)


@attack
def personality():
    return told(LIBC.personality(0x0040000))


@attack
def raised_limits_of_another():
    limit = (ctypes.c_uint64 * 2)(1, 1)
    return told(LIBC.prlimit(os.getppid(), 7, None, limit))


@attack
def raised_limits():
    return told(LIBC.setrlimit(9, (ctypes.c_uint64 * 2)(2**40, 2**40)))


@attack
def outliving_the_parent():
    return told(LIBC.prctl(1, 0, 0, 0, 0))


@attack
def open_to_tracing():
    return told(LIBC.prctl(4, 1, 0, 0, 0))


@attack
def calls_of_32_bits():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("53b814000000cd805bc3"))  # getpid through int 0x80
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(place)()


@attack
def calls_of_x32():
    return told(LIBC.syscall(ctypes.c_long(0x40000000 | 39)))


# ---- The world outside ----


def socket_attack(name, *arguments):
    def attempt():
        return str(socket.socket(*arguments))

    ATTACKS[f"socket_{name}"] = attempt


socket_attack("inet", socket.AF_INET)
socket_attack("inet6", socket.AF_INET6, socket.SOCK_DGRAM)
socket_attack("unix", socket.AF_UNIX)
socket_attack("netlink", 16, socket.SOCK_RAW)
socket_attack("packet", 17, socket.SOCK_RAW)
socket_attack("crypto", 38, socket.SOCK_SEQPACKET)
socket_attack("virtual_machine", 40)


@attack
def datagram_to_an_address():
    own, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return own.sendto(b"x", "\0scbench-attack")


@attack
def memory_through_proc():
    return Path(f"/proc/{os.getppid()}/mem").open("rb")


@attack
def terminal():
    return os.open("/dev/tty", os.O_RDWR)


@attack
def typed_into_the_terminal():
    return fcntl.ioctl(1, 0x5412, b"x")


@attack
def device():
    return str(os.mknod("disk", 0o60600, os.makedev(8, 0)))


@attack
def fifo():
    return str(os.mkfifo("fifo"))


@attack
def installed_packages():
    folders = {Path(folder) for folder in sys.path if folder} | {
        Path("/lib"),
        Path("/usr/lib"),
    }
    folders |= {parent for folder in folders for parent in folder.parents}
    found = [it for folder in folders for it in folder.glob("python*/*-packages/*")]
    found += [it for folder in folders for it in folder.glob("*-packages/*")]
    return f"{len(found)} files and folders" if found else "nothing"


@attack
def handed_descriptors():
    return f"descriptors {HANDED}" if HANDED else "nothing"


@attack
def environment():
    known = {
        "HOME",
        "TMPDIR",
        "PYTHONHASHSEED",
        "LC_ALL",
        "LC_CTYPE",
        "OPENBLAS_NUM_THREADS",
    }
    return (
        f"variables {extra}"
        if (extra := os.environ.keys() - known - {"PWD"})
        else "nothing"
    )


@attack
def signal_to_the_first_process():
    # It belongs to another user, or ignores unhandled signals as the first in its namespace.
    with contextlib.suppress(PermissionError):
        os.kill(1, signal.SIGKILL)
    return "nothing"


def attempt(function):
    """Make an attack in a separate process and return, in words, how it ended."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            said = str(function())
        except OSError as error:
            said = errno.errorcode[error.errno]
        os.write(writes, said.encode())
        os._exit(0)
    os.close(writes)
    _, status = os.waitpid(child, 0)
    said = os.read(reads, 10_000).decode()
    os.close(reads)
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


if __name__ == "__main__":
    only_here = (
        {"calls_of_32_bits", "calls_of_x32"}
        if platform.machine() != "x86_64"
        else set()
    )
    ended = {name: attempt(it) for name, it in ATTACKS.items() if name not in only_here}
    json.dump(ended, sys.stdout)
