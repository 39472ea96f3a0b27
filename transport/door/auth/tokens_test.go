package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

func TestNewToken(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		token, digest := auth.NewToken()
		if len(token) != 46 || !strings.HasPrefix(token, "lw_") || len(digest) != 64 || digest != auth.Digest(token) {
			t.Fatalf("token of %d bytes, digest %q", len(token), digest)
		}
		if seen[token] || strings.Contains(token, "=") {
			t.Fatalf("token %q", token)
		}
		seen[token] = true
	}
}

func TestLine(t *testing.T) {
	_, digest := auth.NewToken()
	both := []auth.Scope{auth.ReadRuns, auth.WriteRuns}
	line, err := auth.Line("mia@example.com", both, digest)
	if err != nil || line != "mia@example.com run:read,run:write "+digest {
		t.Errorf("%q, %v", line, err)
	}
	for _, c := range []struct {
		name   string
		scopes []auth.Scope
		digest string
		want   string
	}{
		{"", both, digest, "is not a name"}, {"a b", both, digest, "is not a name"},
		{"a\nb", both, digest, "is not a name"}, {"#a", both, digest, "is not a name"},
		{strings.Repeat("a", 65), both, digest, "is not a name"},
		{"mia", nil, digest, "is not a scope"},
		{"mia", []auth.Scope{"run:all"}, digest, "the scopes are run:read run:write run:answer run:agent admin"},
		{"mia", []auth.Scope{"admin x"}, digest, "is not a scope"},
		{"mia", both, "", "64 hexadecimal digits"},
		{"mia", both, digest[:63] + "g", "64 hexadecimal digits"},
		{"mia", both, digest + "\n", "64 hexadecimal digits"},
	} {
		_, err := auth.Line(c.name, c.scopes, c.digest)
		wantCode(t, err, invalidInput, c.want)
	}
}

func TestLoadTokens(t *testing.T) {
	token, line := newLine(t, "mia", auth.Admin)
	_, other := newLine(t, "mia", auth.ReadRuns)
	path := tokenFile(t, "# who may call", "", "  \t", "  "+line+"\t# laptop\r", other+"\r")
	h := newMiddleware(t, auth.Config{Tokens: load(t, path)}).Wrap(door())
	if status, _ := call(h, "10.0.0.1:1", token); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

func TestLoadTokensSaysWhatIsNoGood(t *testing.T) {
	token, line := newLine(t, "mia", auth.Admin)
	digest := strings.Fields(line)[2]
	for _, c := range []struct{ text, want string }{
		{"", "holds no token"},
		{"# nothing\n\n", "holds no token"},
		{"mia\n", "tokens:1: a line has a name, scopes and a digest"},
		{"mia admin\n", "tokens:1: a line has"},
		{line + " x\n", "tokens:1: a line has"},
		{"#\n\nmia admin " + token, "tokens:3: the third field is the token's SHA-256"},
		{"mia admin " + digest[1:], "64 hexadecimal digits"},
		{"mia run:all " + digest, "is not a scope"},
		{"mia run:read,,admin " + digest, "is not a scope"},
		{"mia " + token + " admin", "is not a scope"},
		{"mia*" + token + " admin " + digest, "is not a name"},
		{line + "\ntom admin " + strings.ToUpper(digest), "tokens:2: repeats the digest of line 1"},
	} {
		_, err := auth.LoadTokens(tokenFile(t, c.text))
		wantCode(t, err, invalidInput, c.want)
		if err != nil && strings.Contains(err.Error(), token[:20]) {
			t.Errorf("the error repeats a token: %v", err)
		}
	}
	_, err := auth.LoadTokens(filepath.Join(t.TempDir(), "none"))
	wantCode(t, err, invalidInput, "cannot be opened", "no such file")
	_, err = auth.LoadTokens(t.TempDir())
	wantCode(t, err, invalidInput, "not a regular file")
}

func TestTokensAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&text, "mia admin %064x\n", i)
	}
	_, err := auth.LoadTokens(tokenFile(t, text.String()))
	wantCode(t, err, limitExceeded, "10000")
	_, err = auth.LoadTokens(tokenFile(t, strings.Repeat("# no end\n", 1<<19)))
	wantCode(t, err, limitExceeded, "bytes")
}

func TestTokenFileIsOfItsOwnerAndGroup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's mode says nothing there")
	}
	_, line := newLine(t, "mia", auth.Admin)
	path := tokenFile(t, line)
	for _, mode := range []os.FileMode{0o660, 0o604, 0o644, 0o620, 0o610, 0o601, 0o777} {
		chmod(t, path, mode)
		_, err := auth.LoadTokens(path)
		wantCode(t, err, invalidInput, "chmod 600 "+path)
	}
	for _, mode := range []os.FileMode{0o600, 0o400, 0o640, 0o440} {
		chmod(t, path, mode)
		load(t, path)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	load(t, link) // what counts is the mode of the file
	chmod(t, path, 0o644)
	_, err := auth.LoadTokens(link)
	wantCode(t, err, invalidInput, "chmod 600")
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must(t, os.Chmod(path, mode))
}

// rewrite replaces the file's contents as an editor does, and sets its time.
func rewrite(t *testing.T, path string, at time.Time, lines ...string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	must(t, os.Chtimes(path, at, at))
}

// A token is revoked by taking its line away: within a second and without a restart.
func TestTokensAreRevokedWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		long := time.Now().Add(-time.Hour)
		mia, miaLine := newLine(t, "mia", auth.Admin)
		tom, tomLine := newLine(t, "tom", auth.Admin)
		path := tokenFile(t)
		rewrite(t, path, long, miaLine, tomLine)
		h := newMiddleware(t, auth.Config{Tokens: load(t, path), Log: log.logger()}).Wrap(door())
		want := func(miaStatus, tomStatus int) {
			t.Helper()
			time.Sleep(time.Second)
			gotMia, _ := call(h, "10.0.0.1:1", mia)
			gotTom, _ := call(h, "10.0.0.1:1", tom)
			if gotMia != miaStatus || gotTom != tomStatus {
				t.Fatalf("mia %d, tom %d, want %d and %d; log: %s", gotMia, gotTom, miaStatus, tomStatus, log.String())
			}
		}
		want(200, 200)
		rewrite(t, path, long.Add(time.Minute), miaLine)
		wantStatus(t, h, "10.0.0.1:1", tom, http.StatusOK, "the file was read again within a second")
		want(200, 401)

		rewrite(t, path, long.Add(90*time.Second), tomLine) // as many bytes
		want(401, 200)
		rewrite(t, path, long.Add(time.Minute), miaLine)
		want(200, 401)

		// A broken file, one that others may read, and none at all: the tokens stay, and the log says so once each.
		rewrite(t, path, long.Add(2*time.Minute), tomLine, "garbage")
		want(200, 401)
		want(200, 401)
		rewrite(t, path, long.Add(3*time.Minute), tomLine)
		chmod(t, path, 0o644)
		want(200, 401)
		want(200, 401)
		must(t, os.Rename(path, path+"~"))
		want(200, 401)
		want(200, 401)
		for _, trouble := range []string{"a line has a name", "chmod 600", "cannot be opened"} {
			if n := strings.Count(log.String(), trouble); n != 1 {
				t.Errorf("%q was logged %d times: %s", trouble, n, log.String())
			}
		}
		must(t, os.Rename(path+"~", path))
		chmod(t, path, 0o600) // the mode alone has changed
		want(401, 200)

		rewrite(t, path, long.Add(4*time.Minute), "# nobody any more")
		want(401, 401)
	})
}

// Two changes in a row can leave the same size and time behind; the second one counts all the same.
func TestTokensOfAFileJustChangedAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		mia, miaLine := newLine(t, "mia", auth.Admin)
		tom, tomLine := newLine(t, "tom", auth.Admin)
		path := tokenFile(t)
		rewrite(t, path, now, miaLine)
		h := newMiddleware(t, auth.Config{Tokens: load(t, path)}).Wrap(door())
		rewrite(t, path, now, tomLine)
		time.Sleep(time.Second)
		wantStatus(t, h, "10.0.0.1:1", mia, http.StatusUnauthorized, "the revoked token")
		wantStatus(t, h, "10.0.0.1:1", tom, http.StatusOK, "the new token")
	})
}

// Anyone who writes the file in place empties it first. That revokes nobody, if the rest comes at once; an empty file that
// stays does, and so does one that is written again and again.
func TestTokensOfAFileBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mia, line := newLine(t, "mia", auth.Admin)
		path := tokenFile(t)
		rewrite(t, path, time.Now(), line)
		h := newMiddleware(t, auth.Config{Tokens: load(t, path)}).Wrap(door())
		want := func(after time.Duration, status int) {
			t.Helper()
			time.Sleep(after)
			if got, _ := call(h, "10.0.0.1:1", mia); got != status {
				t.Fatalf("%d, not %d", got, status)
			}
		}
		want(10*time.Second, http.StatusOK)
		time.Sleep(time.Second)
		rewrite(t, path, time.Now())
		want(time.Millisecond, http.StatusOK)
		rewrite(t, path, time.Now(), line)
		want(time.Second, http.StatusOK)
		time.Sleep(10 * time.Second)
		rewrite(t, path, time.Now())
		want(time.Millisecond, http.StatusOK)
		want(250*time.Millisecond, http.StatusUnauthorized)
		rewrite(t, path, time.Now(), line)
		want(10*time.Second, http.StatusOK)
		time.Sleep(time.Second)
		for _, status := range []int{http.StatusOK, http.StatusUnauthorized} {
			rewrite(t, path, time.Now(), "#")
			want(249*time.Millisecond, status)
			time.Sleep(time.Millisecond)
		}
	})
}

func TestReload(t *testing.T) {
	mia, miaLine := newLine(t, "mia", auth.Admin)
	tom, tomLine := newLine(t, "tom", auth.Admin)
	path := tokenFile(t, miaLine)
	tokens := load(t, path)
	h := newMiddleware(t, auth.Config{Tokens: tokens}).Wrap(door())
	rewrite(t, path, time.Now(), tomLine)
	must(t, tokens.Reload())
	wantStatus(t, h, "10.0.0.1:1", tom, http.StatusOK, "the new token")
	rewrite(t, path, time.Now(), miaLine, "garbage")
	wantCode(t, tokens.Reload(), invalidInput, "a line has")
	wantStatus(t, h, "10.0.0.1:1", mia, http.StatusUnauthorized, "a token of a broken file")
	wantStatus(t, h, "10.0.0.1:1", tom, http.StatusOK, "the token before it")
}

// ends opens requests with the token, changes the file to the line, and returns why the requests ended within 2 s: nil
// for those that did not.
func ends(t *testing.T, requests int, token, before, after string) []error {
	t.Helper()
	path, causes := tokenFile(t, before), make(chan error, requests)
	h := newMiddleware(t, auth.Config{Tokens: load(t, path)}).Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Second)
		causes <- context.Cause(r.Context())
	}))
	for range requests {
		go call(h, "10.0.0.1:1", token)
	}
	synctest.Wait()
	rewrite(t, path, time.Now().Add(time.Minute), after)
	var all []error
	for range requests {
		all = append(all, <-causes)
	}
	return all
}

// Of many streams that look at the same moment none is told what was, while one reads the file.
func TestRevokedForAllAtOnce(t *testing.T) {
	mia, line := newLine(t, "mia", auth.ReadRuns)
	_, other := newLine(t, "tom", auth.ReadRuns)
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			for _, cause := range ends(t, 8, mia, line, other) {
				if cause != auth.ErrRevoked {
					t.Errorf("a request ended with %v", cause)
				}
			}
		})
	}
}

// A stream that was opened with a token ends when it is revoked, or given to somebody else, or its scopes are changed,
// though nobody calls.
func TestRevokedStreamEnds(t *testing.T) {
	mia, line := newLine(t, "mia", auth.ReadRuns, auth.WriteRuns)
	tom, _ := newLine(t, "tom", auth.ReadRuns)
	for name, then := range map[string]struct {
		line string
		want error
	}{
		"as before":     {line, nil},
		"another order": {strings.Replace(line, " run:read,run:write ", " run:write,run:read ", 1), nil},
		"other scopes":  {strings.Replace(line, " run:read,run:write ", " admin ", 1), auth.ErrRevoked},
		"less scopes":   {strings.Replace(line, " run:read,run:write ", " run:read ", 1), auth.ErrRevoked},
		"another name":  {strings.Replace(line, "mia ", "tom ", 1), auth.ErrRevoked},
		"revoked":       {"tom admin " + auth.Digest(tom), auth.ErrRevoked},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := ends(t, 1, mia, line, then.line)[0]; got != then.want {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}
