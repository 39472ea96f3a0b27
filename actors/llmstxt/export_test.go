package llmstxt

// Lock lets a test be the living run whose temporary file it is.
var Lock = lock

// IsSameModel lets a test compare the names of models.
var IsSameModel = isSameModel
