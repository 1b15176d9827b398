/** The records of a zip file (PKWARE APPNOTE 6.3), with the fields of zip64 where numbers are too large for the others. */

export interface ZipEntry {
  /** In UTF-8, relative, separated by `/`; a folder's ends with one. */
  readonly name: Buffer;
  /** As `st_mode`: kind and rights. */
  readonly mode: number;
  readonly modified: Date;
  readonly method: typeof STORED | typeof DEFLATED;
  /** Where its local header begins. */
  readonly offset: number;
  /** Its sizes were not known before its content: they follow in a descriptor. */
  readonly streamed: boolean;
  /** Its descriptor has fields of 64 bits. */
  readonly large: boolean;
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
}

export const STORED = 0;
export const DEFLATED = 8;

const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;
/** The host system is Unix, and the version 4.5, which has zip64. */
const MADE_BY = (3 << 8) | 45;
const UTF8_NAMES = 1 << 11;
const DESCRIPTOR_FOLLOWS = 1 << 3;
const DIRECTORY = 0x10;

export function localHeader(entry: ZipEntry): Buffer {
  const { name, streamed, large } = entry;
  const extra = Buffer.concat([...(large ? [wideField([0, 0])] : []), timeField(entry.modified)]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  writeCommon(header, 4, entry);
  header.writeUInt32LE(streamed ? 0 : entry.crc, 14);
  header.writeUInt32LE(large ? MAX_32 : streamed ? 0 : entry.packedSize, 18);
  header.writeUInt32LE(large ? MAX_32 : streamed ? 0 : entry.size, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

/** Follows the content of a streamed entry. */
export function descriptor({ large, crc, size, packedSize }: ZipEntry): Buffer {
  const record = Buffer.alloc(large ? 24 : 16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(crc, 4);
  if (large) {
    record.writeBigUInt64LE(BigInt(packedSize), 8);
    record.writeBigUInt64LE(BigInt(size), 16);
  } else {
    record.writeUInt32LE(packedSize, 8);
    record.writeUInt32LE(size, 12);
  }
  return record;
}

export function centralHeader(entry: ZipEntry): Buffer {
  const { name, size, packedSize, offset, mode } = entry;
  const areSizesWide = size >= MAX_32 || packedSize >= MAX_32;
  const wide = [...(areSizesWide ? [size, packedSize] : []), ...(offset >= MAX_32 ? [offset] : [])];
  const extra = Buffer.concat([...(wide.length > 0 ? [wideField(wide)] : []), timeField(entry.modified)]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(MADE_BY, 4);
  writeCommon(header, 6, entry);
  header.writeUInt32LE(entry.crc, 16);
  header.writeUInt32LE(areSizesWide ? MAX_32 : packedSize, 20);
  header.writeUInt32LE(areSizesWide ? MAX_32 : size, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  const isFolder = name.at(-1) === 0x2f;
  header.writeUInt32LE(((mode & MAX_16) * 0x10000 + (isFolder ? DIRECTORY : 0)) >>> 0, 38);
  header.writeUInt32LE(Math.min(offset, MAX_32), 42);
  return Buffer.concat([header, name, extra]);
}

/** The end of the file: where its directory is, and a comment for people. */
export function endRecords(entries: number, offset: number, size: number, comment: string): Buffer {
  const needsWide = entries >= MAX_16 || offset >= MAX_32 || size >= MAX_32;
  const text = Buffer.from(comment);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries, MAX_16), 8);
  end.writeUInt16LE(Math.min(entries, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  end.writeUInt16LE(text.length, 20);
  return Buffer.concat([...(needsWide ? [wideEnd(entries, offset, size)] : []), end, text]);
}

function wideEnd(entries: number, offset: number, size: number): Buffer {
  const record = Buffer.alloc(56 + 20);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(MADE_BY, 12);
  record.writeUInt16LE(45, 14);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(offset), 48);
  record.writeUInt32LE(0x07064b50, 56);
  record.writeBigUInt64LE(BigInt(offset + size), 64);
  record.writeUInt32LE(1, 72);
  return record;
}

/** Version, flags, method and time, which both headers have. */
function writeCommon(header: Buffer, at: number, { streamed, method, modified }: ZipEntry): void {
  header.writeUInt16LE(45, at);
  header.writeUInt16LE(UTF8_NAMES | (streamed ? DESCRIPTOR_FOLLOWS : 0), at + 2);
  header.writeUInt16LE(method, at + 4);
  header.writeUInt32LE(dosTime(modified), at + 6);
}

function wideField(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length);
  field.writeUInt16LE(0x0001, 0);
  field.writeUInt16LE(8 * numbers.length, 2);
  for (const [index, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + 8 * index);
  return field;
}

/** The time in seconds since 1970: the time in the headers has no time zone. */
function timeField(modified: Date): Buffer {
  const seconds = Math.floor(modified.getTime() / 1000);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(Math.min(Math.max(seconds, -0x80000000), 0x7fffffff), 5);
  return field;
}

/** Local time, in steps of two seconds, between 1980 and 2107. */
function dosTime(date: Date): number {
  const year = date.getFullYear();
  if (year < 1980) return (1 << 21) | (1 << 16);
  const day = ((Math.min(year, 2107) - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}
