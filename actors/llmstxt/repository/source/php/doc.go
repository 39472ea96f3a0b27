// Package php reads PHP.
package php
