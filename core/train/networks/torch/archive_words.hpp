#pragma once
#include <string>

namespace cambium::train {

/// Throws an InputError about an archive that could not be opened: truncated, not TorchScript, or with an operator
/// missing in this LibTorch. `said`: Torch's error message.
[[noreturn]] void refuse_archive(const std::string& path, const std::string& said);
/// Throws an InputError about an archive whose program failed.
[[noreturn]] void refuse_answer(const std::string& path, const std::string& said);
/// InputError for formats other than TorchScript, detected by name and first bytes, before Torch is called.
void require_torch_script(const std::string& path);

}  // namespace cambium::train
