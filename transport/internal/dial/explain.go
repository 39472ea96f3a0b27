package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/messages"
)

// Explain turns an error of a connection or a [Policy.Client] into one for
// people: ctx's cause where ctx has ended, the [messages.Error] that err holds,
// or else one with the code transport_closed about the host. It returns nil for nil.
func Explain(ctx context.Context, host string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return known
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok { // its text would repeat the URL
		err = wrapped.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return explainName(host, dns)
	}
	failure := messages.Errorf(messages.Code(messages.CauseTransportClosed),
		"the connection to %s failed: %s%s", host, plain(err.Error()), hint())
	failure.Retryable = !isCertificate(err)
	return failure
}

func explainName(host string, err *net.DNSError) error {
	if err.IsNotFound {
		return messages.Errorf(messages.Code(messages.CauseTransportClosed),
			"there is no host %s, or no network to ask; check the spelling and the connection%s", host, hint())
	}
	failure := messages.Errorf(messages.Code(messages.CauseTransportClosed),
		"the name %s could not be resolved: %s%s", host, plain(err.Err), hint())
	failure.Retryable = true
	return failure
}

// hint tells users behind a proxy why they see a failure.
func hint() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(name) != "" {
			return " (" + name + " is set; it is used with --allow-private only)"
		}
	}
	return ""
}

// isCertificate: another try meets the same certificate.
func isCertificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.SystemRootsError](err)
	return ok
}

// plain bounds what a stranger's server may say and keeps it to one printable line.
func plain(text string) string {
	const limit = 300
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "..."
	}
	return text
}
