package llmstxt

// Lock lets a test be the living run whose temporary file it is.
var Lock = lock

// Alike lets a test compare the names of models.
var Alike = alike
