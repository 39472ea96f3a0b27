// Package dial connects to hosts that may have been named by a stranger, and protects private networks from such
// requests.
//
// A [Policy] says what is allowed; the zero Policy allows only https to public addresses. A name is resolved once, its
// addresses are checked, and only a checked address is dialed, so that DNS rebinding has no effect. Addresses that are
// not public are skipped; if none is left, the connection is refused. Metadata services of clouds are always refused,
// because they hand out credentials.
//
// A proxy resolves names itself, so addresses behind it cannot be checked. Therefore the proxy of the environment
// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) is used only with [Policy.Private].
//
// Refusals are a [messages.Error] with the code invalid_input. Network failures have the code transport_closed, and are
// retryable if another attempt may help. Errors never repeat credentials, path or query of a URL.
package dial
