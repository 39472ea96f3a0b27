package generate

// IsSameModel lets a test compare the names of models.
var IsSameModel = isSameModel
