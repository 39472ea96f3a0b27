package repository

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// Document downloads one document, at most limit bytes. Errors: invalid_input if the URL is refused or not found;
// limit_exceeded if the document is larger; other errors may be temporary.
func Document(ctx context.Context, url string, allow Allow, limit int64) ([]byte, error) {
	policy := allow.policy()
	request, err := requestOf(ctx, policy, url)
	if err != nil {
		return nil, err
	}
	client, host := policy.Client(), request.URL.Host
	defer client.CloseIdleConnections()
	request.Header.Set("Accept", "text/markdown, text/plain;q=0.9, */*;q=0.1")
	response, err := client.Do(request)
	if err != nil {
		return nil, dial.Explain(ctx, host, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, messages.InvalidInput("%s answers %s", host, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, dial.Explain(ctx, host, err)
	case int64(len(text)) > limit:
		return nil, messages.LimitExceeded("%s sends more than the %d bytes that are read", host, limit)
	}
	return text, nil
}

// requestOf returns the request for a document at a URL that the policy allows.
func requestOf(ctx context.Context, policy dial.Policy, url string) (*http.Request, error) {
	u, err := policy.Parse(url)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, messages.InvalidInput("refused: this is not a URL")
	}
	return request, nil
}

// Dead asks for each of the URLs, a few at a time, and tells in their order of those that give no page, and why: status is
// that of the answer, or 0. It reads no page.
func Dead(ctx context.Context, urls []string, allow Allow, tell func(url string, status int, err error)) {
	type answer struct {
		status int
		err    error
	}
	policy, all := allow.policy(), make([]answer, len(urls))
	client := policy.Client()
	defer client.CloseIdleConnections()
	next := make(chan int)
	var trying sync.WaitGroup
	for range min(8, len(urls)) {
		trying.Go(func() {
			for i := range next {
				all[i].status, all[i].err = try(ctx, client, policy, urls[i])
			}
		})
	}
	for i := range urls {
		next <- i
	}
	close(next)
	trying.Wait()
	for i, a := range all {
		if a.err != nil {
			tell(urls[i], a.status, a.err)
		}
	}
}

func try(ctx context.Context, client *http.Client, policy dial.Policy, url string) (status int, err error) {
	request, err := requestOf(ctx, policy, url)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, dial.Explain(ctx, request.URL.Host, err)
	}
	response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		err = messages.InvalidInput("%s answers %s", request.URL.Host, response.Status)
	}
	return response.StatusCode, err
}
