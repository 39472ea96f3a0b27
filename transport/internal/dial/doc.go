// Package dial connects to hosts that a stranger may have named.
//
// A [Policy] says what is allowed; the zero Policy allows only https to public addresses. A name is resolved once,
// its addresses are checked, and only a checked address is dialed, so that DNS rebinding has no effect. Addresses
// that are not public are skipped; if none is left, the connection is refused. Metadata services of clouds are always
// refused: they hand out credentials.
//
// A proxy resolves names itself, so that its addresses cannot be checked. The proxy of the environment (HTTPS_PROXY,
// HTTP_PROXY, NO_PROXY) is therefore used only with [Policy.Private].
//
// Refusals are a [messages.Error] with the code invalid_input. Network failures have the code transport_closed and
// are retryable if another try may help. Errors never repeat a URL's credentials, path or query.
package dial
