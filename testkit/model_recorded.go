package testkit

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var curlExit = regexp.MustCompile(`\[curl exit \d+\]\n?$`)

// Recorded makes the answer of a [Model] from what "curl -i -N" printed of a server's: the same status, header and body,
// and the connection closed after it if the header says so.
func Recorded(transcript string) ([]Piece, error) {
	head, body, _ := strings.Cut(transcript, "\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head+"\r\n\r\n")), nil)
	if err != nil {
		return nil, fmt.Errorf("the transcript is no answer of HTTP: %w", err)
	}
	defer r.Body.Close()
	body = curlExit.ReplaceAllString(body, "")
	framing := ContentLength
	if slices.Contains(r.TransferEncoding, "chunked") {
		framing = Chunked
	}
	pieces := []Piece{Framed(framing)}
	for name, values := range r.Header {
		pieces = append(pieces, Header(name, values[0]))
	}
	pieces = append(pieces, Status(r.StatusCode, "", body))
	if r.Close {
		pieces = append(pieces, HangUp())
	}
	return pieces, nil
}
