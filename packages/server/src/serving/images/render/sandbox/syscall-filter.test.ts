import assert from "node:assert/strict";
import { test } from "node:test";
import { findSyscallFilter } from "./syscall-filter.ts";

// The kernel runs the program of this machine in the tests of confinement; here those of all machines are run by hand.

const allowed = 0x7fff0000;
const refused = 0x00050001;
const unknown = 0x00050026;
const killed = 0x80000000;
const threadFlags = 0x003d0f00;
const forkFlags = 0x01200011;
const machines = {
  x64: {
    audit: 0xc000003e,
    read: 0,
    openat: 257,
    execve: 59,
    socket: 41,
    clone: 56,
    ptrace: 101,
    unshare: 272,
  },
  arm64: {
    audit: 0xc00000b7,
    read: 63,
    openat: 56,
    execve: 221,
    socket: 198,
    clone: 220,
    ptrace: 117,
    unshare: 97,
  },
};

/** What the program answers to a call, as the kernel would run it. */
function ask(program: Buffer, data: { audit: number; number: number; argument?: number }): number {
  const words: Record<number, number> = { 0: data.number, 4: data.audit, 16: data.argument ?? 0 };
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (isTrue: boolean) => program.readUInt8(at * 8 + (isTrue ? 2 : 3));
    if (code === 0x20) accumulator = words[value] ?? assert.fail(`there is nothing at ${value}`);
    else if (code === 0x06) return value;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else assert.fail(`no instruction: ${code}`);
  }
}

for (const [arch, machine] of Object.entries(machines)) {
  test(`what a renderer needs passes on ${arch}, and what it does not is refused`, () => {
    const program = findSyscallFilter(arch);
    assert.ok(program !== null);
    const answer = (number: number, argument = 0) => ask(program, { audit: machine.audit, number, argument });
    for (const number of [machine.read, machine.openat, machine.execve])
      assert.equal(answer(number), allowed);
    for (const number of [machine.socket, machine.ptrace, machine.unshare, 428, 442]) {
      assert.equal(answer(number), refused);
    }
    assert.equal(answer(machine.clone, threadFlags), allowed);
    assert.equal(answer(machine.clone, forkFlags), refused);
    assert.equal(answer(435), unknown);
    assert.equal(answer(425), unknown);
    assert.equal(ask(program, { audit: 0x40000003, number: machine.read }), killed);
  });
}

test("the second set of numbers of x86-64 is refused, and machines without a filter have none", () => {
  const program = findSyscallFilter("x64");
  assert.ok(program !== null);
  assert.equal(ask(program, { audit: machines.x64.audit, number: 0x40000000 + 41 }), refused);
  assert.equal(findSyscallFilter("riscv64"), null);
});
