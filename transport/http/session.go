package http

// cookieName is that of the cookie which stands for a token in browsers.
const cookieName = "lastword_session"
