// Package main answers for programs of others: the tree and the proofs of golang.org/x/mod/sumdb/tlog, and the reader of tiles of torchwood.
//
//	foreign tree COUNT        reads lines "SIZE INDEX FROM", prints root, inclusion proof and consistency proof of the tree of such entries
//	foreign read BASE VKEY    reads the log at an address: its checkpoint, each entry, and the proof (C2SP tlog-proof) at /proof/INDEX
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = h[index]
	}
	return found, nil
}

func inHex(proof []tlog.Hash) string {
	words := make([]string, len(proof))
	for i, hash := range proof {
		words[i] = hex.EncodeToString(hash[:])
	}
	return strings.Join(words, ",")
}

func printTrees(count int64) {
	stored := hashes{}
	for i := range count {
		entry := []byte(fmt.Sprintf("entry %d %s", i, strings.Repeat(".", int(i%7))))
		stored = append(stored, must(tlog.StoredHashes(i, entry, stored))...)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var size, index, from int64
		must(fmt.Sscan(lines.Text(), &size, &index, &from))
		root := must(tlog.TreeHash(size, stored))
		consistency := tlog.TreeProof{}
		if from > 0 {
			consistency = must(tlog.ProveTree(size, from, stored))
		}
		fmt.Printf("%x %s %s\n", root[:], inHex(must(tlog.ProveRecord(size, index, stored))), inHex(consistency))
	}
}

func get(address string) []byte {
	response := must(http.Get(address))
	defer response.Body.Close()
	return must(io.ReadAll(response.Body))
}

func open(signed []byte, verifier note.Verifier) torchwood.Checkpoint {
	opened := must(note.Open(signed, note.VerifierList(verifier)))
	return must(torchwood.ParseCheckpoint(opened.Text))
}

func readLog(base string, vkey string) {
	verifier := must(note.NewVerifier(vkey))
	checkpoint := open(get(base+"/checkpoint"), verifier)
	client := must(torchwood.NewClient(must(torchwood.NewTileFetcher(base))))
	for index := range checkpoint.N {
		entry, _, err := client.Entry(context.Background(), checkpoint.Tree, index)
		must(entry, err)
		text := string(get(base + "/proof/" + strconv.FormatInt(index, 10)))
		head, signed, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(head, "\n")
		if lines[0] != "c2sp.org/tlog-proof@v1" || lines[1] != fmt.Sprintf("index %d", index) {
			must(0, fmt.Errorf("the head of the proof is %q", lines[:2]))
		}
		proof := tlog.RecordProof{}
		for _, line := range lines[2:] {
			proof = append(proof, must(tlog.ParseHash(line)))
		}
		proven := open([]byte(signed), verifier)
		must(0, tlog.CheckRecord(proof, proven.N, proven.Hash, index, tlog.RecordHash(entry)))
		wrong := tlog.RecordHash(append([]byte("x"), entry...))
		if tlog.CheckRecord(proof, proven.N, proven.Hash, index, wrong) == nil {
			must(0, fmt.Errorf("the proof of %d holds for another entry", index))
		}
	}
	fmt.Printf("%d entries read, and as many proofs verified\n", checkpoint.N)
}

func main() {
	if os.Args[1] == "tree" {
		printTrees(must(strconv.ParseInt(os.Args[2], 10, 64)))
	} else {
		readLog(os.Args[2], os.Args[3])
	}
}
