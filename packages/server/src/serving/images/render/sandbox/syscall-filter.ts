/**
 * A seccomp program for bwrap to load. It blocks calls that a renderer never needs and an attacker would use. It must
 * allow `execve`, with which bwrap itself starts node; without `fork` that only replaces the renderer. Tools run from a
 * shell, which has to fork.
 */
export function findSyscallFilter(arch: string, { mayStartPrograms = false } = {}): Buffer | null {
  const machine = machines[arch];
  if (machine === undefined) return null;
  const refused = [...(mayStartPrograms ? [] : machine.forks), ...machine.refused, ...refusedEverywhere];
  return assemble([
    load(archOffset),
    ...unless(equals, machine.audit, [answer(kill)]),
    load(numberOffset),
    // The x32 calls of x86-64 have other numbers.
    ...(machine.foreignFrom === undefined ? [] : when(atLeast, machine.foreignFrom, [answer(fail(eperm))])),
    ...refused.flatMap((call) => when(equals, call, [answer(fail(eperm))])),
    // Its flags are in memory, which a filter cannot read; libraries fall back to clone.
    ...unavailableEverywhere.flatMap((call) => when(equals, call, [answer(fail(enosys))])),
    ...when(equals, machine.clone, [
      load(firstArgumentOffset),
      ...(mayStartPrograms
        ? [...when(hasBits, cloneNamespaces, [answer(fail(eperm))]), answer(allow)]
        : [...when(hasBits, cloneThread, [answer(allow)]), answer(fail(eperm))]),
    ]),
    answer(allow),
  ]);
}

interface Machine {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number;
  foreignFrom?: number;
  clone: number;
  forks: number[];
  refused: number[];
}

const machines: Record<string, Machine | undefined> = {
  x64: {
    audit: 0xc000003e,
    foreignFrom: 0x40000000,
    clone: 56,
    forks: [57, 58], // fork, vfork
    refused: [
      ...[41, 53], // socket, socketpair
      ...[101, 310, 311, 312], // ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[155, 161, 165, 166, 272, 308], // pivot_root, chroot, mount, umount2, unshare, setns
      ...[248, 249, 250], // add_key, request_key, keyctl
      ...[298, 321, 323], // perf_event_open, bpf, userfaultfd
      ...[303, 304], // name_to_handle_at, open_by_handle_at
      ...[175, 176, 313, 246, 169], // init_module, delete_module, finit_module, kexec_load, reboot
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    forks: [],
    refused: [
      ...[198, 199], // socket, socketpair
      ...[117, 270, 271, 272], // ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[41, 51, 40, 39, 97, 268], // pivot_root, chroot, mount, umount2, unshare, setns
      ...[217, 218, 219], // add_key, request_key, keyctl
      ...[241, 280, 282], // perf_event_open, bpf, userfaultfd
      ...[264, 265], // name_to_handle_at, open_by_handle_at
      ...[105, 106, 273, 104, 142], // init_module, delete_module, finit_module, kexec_load, reboot
    ],
  },
};

// Calls added since 2019 have the same number on every architecture.
const refusedEverywhere = [
  ...[428, 429, 430, 431, 432, 433, 442], // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
  ...[434, 438, 440], // pidfd_open, pidfd_getfd, process_madvise
];
const unavailableEverywhere = [
  ...[425, 426, 427], // io_uring_setup, io_uring_enter, io_uring_register
  435, // clone3
];

// Offsets in struct seccomp_data; the first argument's low half is enough for clone's flags.
const numberOffset = 0;
const archOffset = 4;
const firstArgumentOffset = 16;
const cloneThread = 0x00010000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const cloneNamespaces = 0x7e020000;
const eperm = 1;
const enosys = 38;

// Classic BPF: opcodes of linux/bpf_common.h, answers of linux/seccomp.h.
const equals = 0x15;
const atLeast = 0x35;
const hasBits = 0x45;
const allow = 0x7fff0000;
const kill = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;

interface Instruction {
  code: number;
  ifTrue: number;
  ifFalse: number;
  value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, ifTrue: 0, ifFalse: 0, value: offset });
const answer = (value: number): Instruction => ({ code: 0x06, ifTrue: 0, ifFalse: 0, value });

function when(code: number, value: number, then: Instruction[]): Instruction[] {
  return [{ code, ifTrue: 0, ifFalse: then.length, value }, ...then];
}

function unless(code: number, value: number, then: Instruction[]): Instruction[] {
  return [{ code, ifTrue: then.length, ifFalse: 0, value }, ...then];
}

function assemble(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, ifTrue, ifFalse, value }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
