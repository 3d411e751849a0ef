#pragma once
#include <string>

namespace cambium::train {

/// InputError about an archive that could not be opened: cut short, no archive of TorchScript, or with an operator that
/// this LibTorch lacks. `said`: what Torch threw.
[[noreturn]] void refuse_archive(const std::string& path, const std::string& said);
/// InputError about an archive whose program failed.
[[noreturn]] void refuse_answer(const std::string& path, const std::string& said);
/// InputError for formats that are no TorchScript, told by the name and the first bytes, before Torch is asked.
void require_torch_script(const std::string& path);

}  // namespace cambium::train
