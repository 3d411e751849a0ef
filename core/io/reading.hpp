#pragma once
#include <functional>
#include <string>

namespace cambium::io {

/// Runs `action`, which reads a file. What the standard library or a parser throws at contents that do not fit together
/// (an index out of range, a length that no memory holds) becomes an InputError that names the file; errors of ours
/// pass.
void reading(const std::string& path, const std::function<void()>& action);

}  // namespace cambium::io
