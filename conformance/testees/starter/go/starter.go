// A starter reader and writer for the conformance kit. It needs only the standard library:
//
//	go build -o starter starter.go
//	atf-conformance run TESTEE.toml
//
// Keep the protocol code at the end. Replace decode and tracer with your own reader and writer; the
// examples here support only index files of wire version 1.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	headerSize  = 64
	footerSize  = 64
	eventSize   = 32
	unsupported = 77
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ---- Your reader ----

// object maps field names, as in the protocol, to values. 64-bit fields are strings.
type object map[string]any

// index is a decoded index file.
type index struct {
	header object
	events []object
	// nil if there is no verified footer.
	footer   object
	checksum string
	trailing int
}

// decode decodes an index file of wire version 1. It returns nil if the file must be rejected.
func decode(data []byte) *index {
	if len(data) < headerSize || !bytes.HasPrefix(data, []byte("ATI2\x01\x01")) || u32(data, 24) != eventSize {
		return nil
	}
	offset := u64(data, 32)
	if offset < headerSize || offset > uint64(len(data)) {
		return nil
	}
	start := int(offset)
	file := &index{
		header: object{
			"endian": data[4], "version": data[5], "arch": data[6], "os": data[7],
			"flags": u32(data, 8), "thread_id": u32(data, 12), "clock_type": data[16],
			"event_size": u32(data, 24), "event_count": u32(data, 28),
			"events_offset": text(offset), "footer_offset": text(u64(data, 40)),
			"time_start_ns": text(u64(data, 48)), "time_end_ns": text(u64(data, 56)),
		},
		events:   []object{},
		checksum: "not_checked",
	}
	end := start + (len(data)-start)/eventSize*eventSize
	if at, found := findFooter(data, start); found {
		stored := u32(data, at+4)
		switch {
		case stored == 0:
			file.checksum = "absent"
		case stored == crc32.Checksum(data[start:at], castagnoli):
			file.checksum = "good"
		default:
			return nil
		}
		file.footer = object{
			"checksum": stored, "event_count": text(u64(data, at+8)),
			"time_start_ns": text(u64(data, at+16)), "time_end_ns": text(u64(data, at+24)),
			"bytes_written": text(u64(data, at+32)),
		}
		end = at
		file.trailing = len(data) - at - footerSize
	} else {
		stated := u64(data, 40)
		if stated < uint64(len(data)) && bytes.HasPrefix(data[stated:], []byte("2ITA")) {
   // This is a footer, but its numbers are wrong.
			return nil
		}
		file.trailing = len(data) - end
	}
	for at := start; at < end; at += eventSize {
		event := object{
			"timestamp_ns": text(u64(data, at)), "function_id": text(u64(data, at+8)),
			"thread_id": u32(data, at+16), "event_kind": u32(data, at+20),
			"call_depth": u32(data, at+24), "detail_seq": nil,
		}
		if link := u32(data, at+28); link != math.MaxUint32 {
			event["detail_seq"] = text(uint64(link))
		}
		file.events = append(file.events, event)
	}
	return file
}

// findFooter looks for a footer with numbers that match its offset.
func findFooter(data []byte, start int) (int, bool) {
	last := start + (len(data)-start)/eventSize*eventSize
	for at := last; at >= start; at -= eventSize {
		if len(data)-at < footerSize || !bytes.HasPrefix(data[at:], []byte("2ITA")) {
			continue
		}
		length := uint64(at - start)
		if u64(data, at+8) == length/eventSize && u64(data, at+32) == length {
			return at, true
		}
	}
	return 0, false
}

func u32(data []byte, at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }

func u64(data []byte, at int) uint64 { return binary.LittleEndian.Uint64(data[at:]) }

func text(value uint64) string { return strconv.FormatUint(value, 10) }

// ---- Your writer ----

// tracer writes the index file of a thread, in wire version 1.
type tracer struct {
	file             *os.File
	buffer           *bufio.Writer
	thread, clock    uint32
	arch, os         uint8
	events           []byte
	started, stopped uint64
}

func open(out string, values values) (*tracer, error) {
	folder := filepath.Join(out, fmt.Sprintf("thread_%d", values.number("thread")))
	if err := os.Mkdir(folder, 0o777); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(folder, "index.atf"))
	if err != nil {
		return nil, err
	}
	t := &tracer{
		file: file, buffer: bufio.NewWriter(file),
		thread: uint32(values.number("thread")), clock: uint32(values.number("clock")),
		arch: uint8(values.number("arch")), os: uint8(values.number("os")),
	}
	_, err = t.buffer.Write(t.header(headerSize))
	return t, err
}

func (t *tracer) header(footerOffset uint64) []byte {
	header := append([]byte("ATI2\x01\x01"), t.arch, t.os)
	for _, field := range []uint32{0, t.thread, t.clock, 0, eventSize, uint32(len(t.events) / eventSize)} {
		header = binary.LittleEndian.AppendUint32(header, field)
	}
	for _, field := range []uint64{headerSize, footerOffset, t.started, t.stopped} {
		header = binary.LittleEndian.AppendUint64(header, field)
	}
	return header
}

func (t *tracer) index(values values) error {
	t.stopped = values.number("ts")
	if len(t.events) == 0 {
		t.started = t.stopped
	}
	var event []byte
	for _, field := range []uint64{t.stopped, values.number("fn")} {
		event = binary.LittleEndian.AppendUint64(event, field)
	}
	kind, depth := uint32(values.number("kind")), uint32(values.number("depth"))
	for _, field := range []uint32{t.thread, kind, depth, math.MaxUint32} {
		event = binary.LittleEndian.AppendUint32(event, field)
	}
	t.events = append(t.events, event...)
	_, err := t.buffer.Write(event)
	return err
}

// finalize writes the footer first and the header last, so that readers find the footer even after
// a crash between the two.
func (t *tracer) finalize() error {
	size := uint64(len(t.events))
	footer := []byte("2ITA")
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(t.events, castagnoli))
	for _, field := range []uint64{size / eventSize, t.started, t.stopped, size, 0, 0, 0} {
		footer = binary.LittleEndian.AppendUint64(footer, field)
	}
	if _, err := t.buffer.Write(footer); err != nil {
		return err
	}
	if err := t.buffer.Flush(); err != nil {
		return err
	}
	if _, err := t.file.WriteAt(t.header(headerSize+size), 0); err != nil {
		return err
	}
	return t.file.Close()
}

// ---- The protocol ----

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "starter:", err)
		code = 3
	}
	os.Exit(code)
}

func run(arguments []string) (int, error) {
	switch {
	case len(arguments) == 2 && arguments[0] == "read":
		return read(arguments[1], os.Stdout)
	case len(arguments) == 3 && arguments[0] == "write":
		return write(arguments[1], arguments[2])
	case len(arguments) == 2 && arguments[0] == "serve":
		return 0, serve(arguments[1])
	}
	return 0, errors.New("usage: starter read PATH | write SCRIPT OUT | serve ROLE")
}

// serve answers one request per line until the end of input: a path, or a script and a folder. An answer is a document
// or, without one, an exit code.
func serve(role string) error {
	requests := json.NewDecoder(os.Stdin)
	for {
		var path string
		paths := []string{"", ""}
		var request any = &paths
		if role == "read" {
			request = &path
		}
		err := requests.Decode(request)
		if err == io.EOF {
			return nil
		}
		code := 0
		if err == nil && role == "read" {
			code, err = read(path, os.Stdout)
		} else if err == nil {
			code, err = write(paths[0], paths[1])
		}
		if err != nil {
			return err
		}
		if role == "write" || code == unsupported {
			fmt.Println(code)
		}
	}
}

// read prints the document of a file and returns the exit code, which is 1 if the file is rejected.
func read(path string, output io.Writer) (int, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return unsupported, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	print := json.NewEncoder(output).Encode
	file := decode(data)
	if file == nil {
		return 1, print(object{"kind": "index", "verdict": "reject"})
	}
	document := object{
		"kind": "index", "verdict": "accept", "header": file.header, "events": file.events, "footer": file.footer,
		"derived": object{
			"event_count": text(uint64(len(file.events))), "count_source": "footer",
			"checksum": file.checksum, "trailing_bytes": text(uint64(file.trailing)),
		},
	}
	if file.footer == nil {
		document["verdict"] = "recover"
		document["derived"].(object)["count_source"] = "file_size"
	}
	return 0, print(document)
}

// write executes a script, line by line.
func write(script, out string) (int, error) {
	lines, err := os.ReadFile(script)
	if err != nil {
		return 0, err
	}
	threads := map[uint64]*tracer{}
	for _, line := range strings.Split(string(lines), "\n") {
		words := strings.Split(line, " ")
		if words[0] == "" || strings.HasPrefix(words[0], "#") {
			continue
		}
		values := values{}
		for _, word := range words[1:] {
			if key, value, found := strings.Cut(word, "="); found {
				values[key] = value
			}
		}
		id := values.number("thread")
		thread := threads[id]
		switch {
		case words[0] == "open":
			threads[id], err = open(out, values)
		case words[0] == "index" && thread != nil && values["detail"] == "-":
			err = thread.index(values)
		case words[0] == "finalize" && thread != nil:
			err = thread.finalize()
			delete(threads, id)
		case words[0] == "abort":
			// Flush open threads, but do not finalize them.
			for _, thread := range threads {
				if err == nil {
					err = thread.buffer.Flush()
				}
			}
		default:
			return unsupported, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// values holds an operation's values, by key.
type values map[string]string

// number returns a value, or 0 if the value is missing, as in abort.
func (v values) number(key string) uint64 {
	number, _ := strconv.ParseUint(v[key], 10, 64)
	return number
}
