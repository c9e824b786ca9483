package atf

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"testing"
)

// set sets a field to its only valid value, or to another one.
func set(data []byte, at uint64, p place, value uint64) {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], value)
	copy(data[at+p.offset:][:p.width], number[:])
}

// indexSeed returns a finalized index with two events.
func indexSeed(wire int) []byte {
	p, end := indexPlacesOf[wire], uint64(IndexHeaderSize+2*IndexEventSize)
	data := make([]byte, end+IndexFooterSize)
	for _, own := range []place{p.headerMagic, p.headerEndian, p.headerVersion, p.headerEventSize} {
		set(data, 0, own, own.value)
	}
	set(data, 0, p.headerEventsOffset, IndexHeaderSize)
	set(data, 0, p.headerEventCount, 2)
	set(data, 0, p.headerFooterOffset, end)
	for at := uint64(IndexHeaderSize); at < end; at += IndexEventSize {
		set(data, at, p.eventTimestampNs, at)
		set(data, at, p.eventEventKind, uint64(EventKindCall))
	}
	set(data, end, p.footerMagic, p.footerMagic.value)
	set(data, end, p.footerEventCount, 2)
	set(data, end, p.footerBytesWritten, 2*IndexEventSize)
	return data
}

// detailSeed returns a finalized detail file with an event that has registers and a stack.
func detailSeed(wire int) []byte {
	p, stack := detailPlacesOf[wire], uint64(16)
	length := DetailEventHeaderSize + DetailFunctionPayloadSize + stack
	end := DetailHeaderSize + length
	data := make([]byte, end+DetailFooterSize)
	for _, own := range []place{p.headerMagic, p.headerEndian, p.headerVersion} {
		set(data, 0, own, own.value)
	}
	set(data, 0, p.headerEventsOffset, DetailHeaderSize)
	set(data, 0, p.headerEventCount, 1)
	set(data, 0, p.headerBytesLength, length)
	set(data, DetailHeaderSize, p.eventTotalLength, length)
	set(data, DetailHeaderSize, p.eventTimestamp, 1)
	set(data, DetailHeaderSize+DetailEventHeaderSize, p.payloadStackSize, stack)
	set(data, end, p.footerMagic, p.footerMagic.value)
	set(data, end, p.footerEventCount, 1)
	set(data, end, p.footerBytesLength, length)
	return data
}

// seeds adds a file of each wire version, complete and truncated before its footer.
func seeds(f *testing.F, seed func(wire int) []byte, footer int) {
	for wire := range indexPlacesOf {
		data := seed(wire)
		f.Add(data)
		f.Add(data[:len(data)-footer])
	}
}

// isRefused returns whether a file was refused; any other error fails the test.
func isRefused(t *testing.T, err error) bool {
	var refused *FormatError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return err != nil
}

func marshal(t *testing.T, value json.Marshaler) {
	if _, err := json.Marshal(value); err != nil {
		t.Fatal(err)
	}
}

func FuzzIndex(f *testing.F) {
	seeds(f, indexSeed, IndexFooterSize)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadIndexFile("fuzz", data)
		if isRefused(t, err) {
			return
		}
		marshal(t, file.Header())
		if footer, ok := file.Footer(); ok {
			marshal(t, footer)
		}
		events, hasHoles := file.Events(), false
		for seq := 0; seq < events.Len(); seq++ {
			marshal(t, events.At(seq))
			hasHoles = hasHoles || file.IsHole(seq)
		}
		if hasHoles != file.HasHoles() || file.End() > file.Size() {
			t.Fatal(hasHoles, file.End())
		}
	})
}

func FuzzDetail(f *testing.F) {
	seeds(f, detailSeed, DetailFooterSize)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadDetailFile("fuzz", data)
		if isRefused(t, err) {
			return
		}
		marshal(t, file.Header())
		count := uint64(0)
		for events := file.Events(); events.Next(); count++ {
			marshal(t, events.Event())
		}
		footer, ok := file.Footer()
		if ok && footer.EventCount() != count || file.End() > file.Size() {
			t.Fatal(count, file.End())
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"threads": [{"id": 1}], "symbols": [{"function_id": "0x1"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		manifest, err := ParseManifest(data)
		if isRefused(t, err) != (manifest == nil) {
			t.Fatal(err)
		}
	})
}

// The seeds are complete files, and truncated copies of them.
func TestSeeds(t *testing.T) {
	for wire := range indexPlacesOf {
		index, err := ReadIndexFile("index.atf", indexSeed(wire))
		if err != nil || !index.IsFinalized() || index.Events().Len() != 2 {
			t.Fatal(wire, index, err)
		}
		detail, err := ReadDetailFile("detail.atf", detailSeed(wire))
		if err != nil || !detail.IsFinalized() {
			t.Fatal(wire, err)
		}
		events := detail.Events()
		if !events.Next() {
			t.Fatal(wire)
		}
		if function, ok := events.Event().Function(); !ok || len(function.Stack) != 16 {
			t.Fatal(wire, function)
		}
	}
}
