// Package dial opens connections to places that a stranger may have named.
//
// A [Policy] says what is allowed; the zero Policy allows https to public
// addresses and nothing else. A name is resolved once, each address it gives is
// checked, and exactly a checked address is dialed: a name that resolves
// differently a moment later (DNS rebinding) changes nothing. Addresses that are
// not public are passed over, and where none is left the connection is refused.
// The metadata services of clouds are refused whatever the Policy says: they
// hand out credentials and nobody keeps a repository there.
//
// A proxy resolves names itself, where no check of ours can see the result. The
// proxy of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) is therefore used
// with [Policy.Private] alone, and by-passed without it.
//
// Refusals are a [messages.Error] with the code invalid_input; what the network
// does wrong has the code transport_closed and is retryable where trying again
// may help. No error repeats credentials, paths or queries of a URL.
package dial
