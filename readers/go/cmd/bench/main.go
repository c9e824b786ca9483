// Command bench compares the reader with hand-written loads, like readers/bench/bench.c.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"atf.example/atf"
)

type sum struct {
	time  uint64
	kinds [4]uint64
}

func timed(total *sum, work func(*sum)) float64 {
	*total = sum{}
	start := time.Now()
	work(total)
	return time.Since(start).Seconds()
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	file, err := atf.ReadIndexFile(os.Args[1], data, atf.SkipChecksum)
	if err != nil {
		log.Fatal(err)
	}
	rounds, _ := strconv.Atoi(os.Args[2])
	var sums [2]sum
	for round := 0; round < rounds; round++ {
		typed := timed(&sums[0], func(total *sum) {
			for events := data[64 : len(data)-64]; len(events) >= 32; events = events[32:] {
				total.time += binary.LittleEndian.Uint64(events)
				total.kinds[binary.LittleEndian.Uint32(events[20:])&3]++
			}
		})
		generated := timed(&sums[1], func(total *sum) {
			for events, seq := file.Events(), 0; seq < events.Len(); seq++ {
				event := events.At(seq)
				total.time += event.TimestampNs()
				total.kinds[event.EventKind()&3]++
			}
		})
		fmt.Printf("%.6f %.6f\n", typed, generated)
	}
	if sums[0] != sums[1] {
		log.Fatal("the sums differ")
	}
	fmt.Println(sums[0].time, sums[0].kinds[1])
}
