/**
 * The system call filter of a sandboxed command, as a BPF program for bwrap's `--seccomp`. It closes what namespaces leave
 * open: sockets of other programs in a bound folder, keyrings, io_uring, typing into a terminal,
 * setuid files, tracing the sandbox's own first process.
 */

interface Calls {
  readonly audit: number;
  readonly socket: number;
  readonly ioctl: number;
  readonly ptrace: number;
  /** Calls with a file's mode, and the index of that argument. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  /** The same where the mode counts only if the flags, an argument too, say that a file is created. */
  readonly opens: readonly (readonly [call: number, flags: number, mode: number])[];
  readonly refused: readonly number[];
}

/** The same numbers on all processors: io_uring, the newer mount calls, pidfd_getfd. */
const REFUSED_EVERYWHERE = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 438];
/** `fchmodat2` and `openat2` are also the same on all. */
const FCHMODAT2 = 452;
const OPENAT2 = 437;

const CALLS: Partial<Record<NodeJS.Architecture, Calls>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    ioctl: 16,
    ptrace: 101,
    modes: [
      [90, 1], // chmod
      [91, 1], // fchmod
      [268, 2], // fchmodat
      [85, 1], // creat
      [133, 1], // mknod
      [259, 2], // mknodat
    ],
    opens: [
      [2, 1, 2], // open
      [257, 2, 3], // openat
    ],
    refused: [
      155, 161, 163, 165, 166, 167, 168, 169, 175, 176, 179, 246, 248, 249, 250, 298, 303, 304, 308, 310, 311,
      313, 320, 321, 323,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    ioctl: 29,
    ptrace: 117,
    modes: [
      [52, 1],
      [53, 2],
      [33, 2],
    ],
    opens: [[56, 2, 3]],
    refused: [
      41, 51, 89, 40, 39, 224, 225, 142, 105, 106, 60, 104, 217, 218, 219, 241, 264, 265, 268, 270, 271, 273,
      294, 280, 282,
    ],
  },
};

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errno = (number: number) => 0x00050000 | number;
const EPERM = errno(1);
const ENOSYS = errno(38);

/** IPv4, IPv6, netlink; not AF_UNIX, whose sockets no network namespace holds back, nor AF_VSOCK. */
const FAMILIES = [2, 10, 16];
/** Put characters into a terminal's input. */
const TERMINAL_INPUT = [0x5412, 0x541c];
/** The first process of a sandbox, which tells the end of its command: whoever holds it up makes the command seem to run. */
const FIRST_PROCESS = 1;
const SETUID_OR_SETGID = 0o6000;
const CREATES = 0o100 | 0o20000000;
/** Calls of the x32 interface have this bit. */
const X32 = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const argument = (index: number): Instruction => load(16 + 8 * index);
const equals = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x15,
  ifTrue,
  ifFalse,
  value,
];
const atLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x35,
  ifTrue,
  ifFalse,
  value,
];
const hasBits = (bits: number, ifTrue: number, ifFalse: number): Instruction => [0x45, ifTrue, ifFalse, bits];
const answer = (action: number): Instruction => [0x06, 0, 0, action];

/** Undefined: not known for this processor. */
export function seccompFilter(processor: NodeJS.Architecture = process.arch): Uint8Array | undefined {
  const calls = CALLS[processor];
  return calls && encoded(programOf(calls));
}

function programOf({ audit, socket, ioctl, ptrace, modes, opens, refused }: Calls): Instruction[] {
  const modeRule = ([call, mode]: readonly [number, number]): Instruction[] => [
    equals(call, 0, 4),
    argument(mode),
    hasBits(SETUID_OR_SETGID, 0, 1),
    answer(EPERM),
    answer(ALLOW),
  ];
  const openRule = ([call, flags, mode]: readonly [number, number, number]): Instruction[] => [
    equals(call, 0, 6),
    argument(flags),
    hasBits(CREATES, 0, 3),
    argument(mode),
    hasBits(SETUID_OR_SETGID, 0, 1),
    answer(EPERM),
    answer(ALLOW),
  ];
  const only = FAMILIES.map((family, index) => equals(family, FAMILIES.length - index, 0));
  const typing = TERMINAL_INPUT.map((request, index) => equals(request, TERMINAL_INPUT.length - index, 0));
  return [
    load(4),
    equals(audit, 1, 0),
    answer(KILL),
    load(0),
    atLeast(X32, 0, 1),
    answer(ENOSYS),
    // Its mode is behind a pointer; programs fall back to openat.
    equals(OPENAT2, 0, 1),
    answer(ENOSYS),
    ...[...REFUSED_EVERYWHERE, ...refused].flatMap((call) => [equals(call, 0, 1), answer(EPERM)]),
    ...[...modes, [FCHMODAT2, 2] as const].flatMap(modeRule),
    ...opens.flatMap(openRule),
    equals(socket, 0, only.length + 3),
    argument(0),
    ...only,
    answer(EPERM),
    answer(ALLOW),
    equals(ptrace, 0, 4),
    argument(1),
    equals(FIRST_PROCESS, 0, 1),
    answer(EPERM),
    answer(ALLOW),
    equals(ioctl, 0, typing.length + 3),
    argument(1),
    ...typing,
    answer(ALLOW),
    answer(EPERM),
    answer(ALLOW),
  ];
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
