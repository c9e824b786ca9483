// Testee answers the conformance kit: testee read PATH, testee serve, or testee accessors.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"atf.example/atf"
)

type document map[string]any

// ofFile builds the document of a file.
func ofFile(kind string, isWhole bool, header json.Marshaler, events []json.Marshaler, footer json.Marshaler, checksum uint32, trailing int64) document {
	source, state := "footer", "good"
	if checksum == 0 {
		state = "absent"
	}
	if footer == nil {
		source, state = map[string]string{"index": "file_size", "detail": "framing"}[kind], "not_checked"
	}
	verdict := "recover"
	if isWhole {
		verdict = "accept"
	}
	return document{
		"kind": kind, "verdict": verdict, "header": header, "footer": footer, "events": events,
		"derived": document{
			"event_count": strconv.Itoa(len(events)), "count_source": source, "checksum": state,
			"trailing_bytes": strconv.FormatInt(trailing, 10),
		},
	}
}

func ofIndex(file *atf.IndexFile) document {
	events := []json.Marshaler{}
	for all, seq := file.Events(), 0; seq < all.Len(); seq++ {
		events = append(events, all.At(seq))
	}
	isWhole, trailing := file.IsFinalized() && !file.HasHoles(), file.Size()-file.End()
	if footer, ok := file.Footer(); ok {
		return ofFile("index", isWhole, file.Header(), events, footer, footer.Checksum(), trailing)
	}
	return ofFile("index", isWhole, file.Header(), events, nil, 0, trailing)
}

func ofDetail(file *atf.DetailFile) document {
	events := []json.Marshaler{}
	for all := file.Events(); all.Next(); {
		events = append(events, all.Event())
	}
	trailing := file.Size() - file.End()
	if footer, ok := file.Footer(); ok {
		return ofFile("detail", file.IsFinalized(), file.Header(), events, footer, footer.Checksum(), trailing)
	}
	return ofFile("detail", file.IsFinalized(), file.Header(), events, nil, 0, trailing)
}

func ofThread(thread *atf.Thread) document {
	dangling, orphans := thread.LooseLinks()
	shown := document{
		"thread_id": thread.ID, "index": nil, "detail": nil,
		"derived": document{"dangling_links": strconv.Itoa(dangling), "orphan_details": strconv.Itoa(orphans)},
	}
	for _, refused := range thread.Refused {
		kind := strings.TrimSuffix(filepath.Base(refused.File), ".atf")
		shown[kind] = document{"kind": kind, "verdict": "reject"}
	}
	if thread.Index != nil {
		shown["index"] = ofIndex(thread.Index)
	}
	if thread.Detail != nil {
		shown["detail"] = ofDetail(thread.Detail)
	}
	return shown
}

func ofSession(session *atf.Session) document {
	threads, merged := []document{}, [][2]any{}
	events, details, indexes, isWhole := 0, 0, 0, true
	for _, thread := range session.Threads {
		threads = append(threads, ofThread(thread))
		isWhole = isWhole && thread.IsWhole()
		if thread.Index != nil {
			indexes++
			events += thread.Index.Len()
		}
		if thread.Detail != nil {
			for all := thread.Detail.Events(); all.Next(); {
				details++
			}
		}
	}
	var start, end any
	for all := session.Merged(); all.Next(); {
		own := all.Event()
		end = strconv.FormatUint(own.Event.TimestampNs(), 10)
		if start == nil {
			start = end
		}
		merged = append(merged, [2]any{own.ThreadID, strconv.Itoa(own.Seq)})
	}
	manifest, verdict := "absent", "recover"
	if session.Manifest != nil {
		manifest = "used"
	} else if session.ManifestErr != nil {
		manifest = "ignored"
		fmt.Fprintln(os.Stderr, session.ManifestErr)
	}
	if len(threads) > 0 && indexes == 0 {
		verdict = "reject"
	} else if isWhole && manifest != "ignored" {
		verdict = "accept"
	}
	return document{
		"kind": "session", "verdict": verdict, "threads": threads,
		"derived": document{
			"manifest": manifest, "event_count": strconv.Itoa(events), "detail_count": strconv.Itoa(details),
			"time_start_ns": start, "time_end_ns": end, "merged": merged,
		},
	}
}

// read returns the document of a path. Refused files are documents too.
func read(path string) (document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		session, err := atf.OpenSession(path)
		if err != nil {
			return nil, err
		}
		return ofSession(session), nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var refused *atf.FormatError
	if strings.HasPrefix(string(data), "ATD2") || filepath.Base(path) == "detail.atf" {
		file, err := atf.ReadDetailFile(path, data)
		if errors.As(err, &refused) {
			return document{"kind": "detail", "verdict": "reject"}, nil
		}
		return ofDetail(file), err
	}
	file, err := atf.ReadIndexFile(path, data)
	if errors.As(err, &refused) {
		return document{"kind": "index", "verdict": "reject"}, nil
	}
	return ofIndex(file), err
}

// accessors returns the fields of a record, from its name, its wire version and its bytes in hex.
func accessors(line string) (document, error) {
	words := strings.Fields(line)
	wire, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(words[2])
	if err != nil {
		return nil, err
	}
	record, ok := parse(words[0], data, wire)
	if !ok {
		return nil, errors.New(line)
	}
	return document{"fields": record}, nil
}

// answer returns the document of a path in JSON.
func answer(line string) (document, error) {
	var path string
	if err := json.Unmarshal([]byte(line), &path); err != nil {
		return nil, err
	}
	return read(path)
}

func run(arguments []string) (int, error) {
	switch {
	case len(arguments) == 2 && arguments[0] == "read":
		answer, err := read(arguments[1])
		if err != nil {
			return 2, err
		}
		if answer["verdict"] == "reject" {
			return 1, json.NewEncoder(os.Stdout).Encode(answer)
		}
		return 0, json.NewEncoder(os.Stdout).Encode(answer)
	case len(arguments) == 1 && (arguments[0] == "serve" || arguments[0] == "accessors"):
		reply := map[string]func(string) (document, error){"serve": answer, "accessors": accessors}[arguments[0]]
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			answer, err := reply(lines.Text())
			if err != nil {
				return 2, err
			}
			if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
				return 2, err
			}
		}
		return 0, nil
	}
	return 2, errors.New("usage: testee read PATH | testee serve | testee accessors")
}

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}
