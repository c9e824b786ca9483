package atf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// nowhere is an offset that no file has.
const nowhere = 1<<63 - 1

// FormatError describes a file that cannot be read.
type FormatError struct {
	// File is the file's name.
	File string

	// Offset is the offset of the error in bytes.
	Offset uint64

	// Field is the invalid field, such as "index footer, checksum".
	Field string

	// Expected describes the value that was expected there.
	Expected string

	// Rule is the rule that the file breaks, such as "ATF-IFTR-004".
	Rule string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: byte %d, %s: expected %s (%s)", e.File, e.Offset, e.Field, e.Expected, e.Rule)
}

// Option changes how files are read.
type Option int

// SkipChecksum skips the computation of the events' checksum.
const SkipChecksum Option = 1

func has(options []Option, wanted Option) bool {
	for _, option := range options {
		if option == wanted {
			return true
		}
	}
	return false
}

// place is the place of a field in its record, and its only valid value.
type place struct {
	offset, width, value uint64
}

func add(a, b uint64) uint64 {
	return min(a+b, nowhere)
}

func sub(a, b uint64) uint64 {
	if a < b {
		return nowhere
	}
	return a - b
}

func mul(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return nowhere
	}
	return min(low, nowhere)
}

func div(a, b uint64) uint64 {
	if b == 0 {
		return nowhere
	}
	return a / b
}

func rem(a, b uint64) uint64 {
	if b == 0 {
		return nowhere
	}
	return a % b
}

func min(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}

func max(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

func choose(condition bool, then, otherwise uint64) uint64 {
	if condition {
		return then
	}
	return otherwise
}

// first returns the first offset that meets a condition, or nowhere.
func first(at uint64, next func(uint64) uint64, isFound func(uint64) bool) uint64 {
	for !isFound(at) {
		after := next(at)
		if after <= at || after == nowhere {
			return nowhere
		}
		at = after
	}
	return at
}

// last returns the last offset before nowhere.
func last(at uint64, next func(uint64) uint64) uint64 {
	for {
		after := next(at)
		if after <= at || after == nowhere {
			return at
		}
		at = after
	}
}

// count returns the number of steps to the last offset.
func count(at uint64, next func(uint64) uint64) uint64 {
	steps := uint64(0)
	for {
		after := next(at)
		if after <= at || after == nowhere {
			return steps
		}
		at, steps = after, steps+1
	}
}

// source contains the bytes of a file. Bytes after its end read as 0.
type source struct {
	name string
	data []byte
	size uint64

	// nonzero is the offset after the last byte that is not 0.
	nonzero uint64

	// free unmaps the bytes if they are mapped.
	free func() error
}

func newSource(name string, data []byte) source {
	s := source{name: name, data: data, size: uint64(len(data)), nonzero: uint64(len(data))}
	s.nonzero = s.dataEnd(s.size)
	return s
}

// Size returns the file's size in bytes.
func (s *source) Size() int64 {
	return int64(s.size)
}

// part returns the bytes from one offset up to another, clipped to the file.
func (s *source) part(from, to uint64) []byte {
	to = min(to, s.size)
	return s.data[min(from, to):to]
}

func (s *source) read(at uint64, p place) uint64 {
	start := at + p.offset
	var number uint64
	if part := s.part(start, start+8); len(part) == 8 {
		number = binary.LittleEndian.Uint64(part)
	} else {
		var padded [8]byte
		copy(padded[:], part)
		number = binary.LittleEndian.Uint64(padded[:])
	}
	return min(number&(1<<(8*p.width)-1), nowhere)
}

func (s *source) isZero(from, to uint64) bool {
	for _, b := range s.part(from, min(to, s.nonzero)) {
		if b != 0 {
			return false
		}
	}
	return true
}

func (s *source) begins(from, to, number, width uint64) bool {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], number)
	return bytes.HasPrefix(all[:width], s.part(from, min(to, from+width)))
}

func (s *source) same(one, other, width uint64) bool {
	for i := uint64(0); i < width; i++ {
		byteOf := place{i, 1, 0}
		if s.read(one, byteOf) != s.read(other, byteOf) {
			return false
		}
	}
	return true
}

func (s *source) dataEnd(end uint64) uint64 {
	end = min(end, s.nonzero)
	for end >= 8 && binary.LittleEndian.Uint64(s.data[end-8:]) == 0 {
		end -= 8
	}
	for end > 0 && s.data[end-1] == 0 {
		end--
	}
	return end
}

func (*source) howMany(truths ...bool) uint64 {
	count := uint64(0)
	for _, truth := range truths {
		if truth {
			count++
		}
	}
	return count
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *source) crc32c(from, to uint64) uint64 {
	return uint64(crc32.Checksum(s.part(from, to), castagnoli))
}

func (s *source) refuse(at uint64, p place, field, expected, rule string) *FormatError {
	return &FormatError{s.name, at + p.offset, field, expected, rule}
}
