#pragma once
#include <torch/script.h>

#include <string>

#include "plugins/torch_potential/archive/archive.hpp"

namespace cambium::torch_potential {

/// Extra files of archives of the known programs; an empty text if one is missing.
torch::jit::ExtraFilesMap known_extra_files();

/// Reads extra files, buffers and the schema of `forward`. InputError for a program of another kind.
ArchiveFacts facts_of(const torch::jit::Module& module, const torch::jit::ExtraFilesMap& extra,
                      const std::string& path);

}  // namespace cambium::torch_potential
