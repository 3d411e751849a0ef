#pragma once
#include <functional>
#include <string>

namespace cambium::io {

/// Runs `action`, which reads a file. Exceptions of the standard library or a parser due to inconsistent contents (an
/// index out of range, an impossible length) become an InputError that names the file; our own errors pass unchanged.
void reading(const std::string& path, const std::function<void()>& action);

}  // namespace cambium::io
