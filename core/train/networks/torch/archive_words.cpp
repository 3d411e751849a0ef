#include "core/train/networks/torch/archive_words.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "core/base/error.hpp"
#include "core/base/version.hpp"

namespace cambium::train {
namespace {

/// The last informative line of a traceback, else the first line of the text.
std::string sentence_of(const std::string& said) {
  std::smatch match;
  static const std::regex raised("(?:RuntimeError|torch\\.jit\\.Error|AssertionError): ([^\n]+)");
  std::string found;
  for (std::string rest = said; std::regex_search(rest, match, raised); rest = match.suffix()) found = match[1];
  if (!found.empty()) return found;
  return said.substr(0, said.find('\n'));
}

bool is_damaged(const std::string& said) {
  static const std::regex words("central directory|zip archive");
  return std::regex_search(said, words);
}

bool is_other_zip(const std::string& said) {
  static const std::regex words("file not found|not in a subdirectory");
  return std::regex_search(said, words);
}

}  // namespace

void require_torch_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[2] = {};
  if (!file.read(head, 2)) throw InputError(fmt::format("{}: cannot be read, or is empty; check the path", path));
  if (path.ends_with(".pt2"))
    throw InputError(
        fmt::format("{}: compiled by AOTInductor (.pt2), which needs LibTorch 2.6 or newer; this build has {}. "
                    "Export a TorchScript archive (.pth) instead",
                    path, CAMBIUM_TORCH_VERSION));
  if (head[0] != 'P' || head[1] != 'K')
    throw InputError(
        fmt::format("{}: is no TorchScript archive, which is a zip file; export the model with torch.jit.save", path));
}

void refuse_archive(const std::string& path, const std::string& said) {
  std::smatch match;
  static const std::regex lacks(
      "Unknown (?:builtin op|type name|custom class)[^a-zA-Z_]*([A-Za-z0-9_:.]*[A-Za-z0-9_])");
  if (std::regex_search(said, match, lacks))
    throw InputError(
        fmt::format("{}: uses the operator {}, which LibTorch {} does not have; build Cambium with the LibTorch "
                    "that wrote the archive, or export it for an older one",
                    path, match[1].str(), CAMBIUM_TORCH_VERSION));
  if (is_damaged(said)) throw InputError(fmt::format("{}: the file is cut short or damaged; copy it again", path));
  if (is_other_zip(said))
    throw InputError(
        fmt::format("{}: a zip file, but no TorchScript archive; export the model with torch.jit.save", path));
  throw InputError(fmt::format("{}: LibTorch {} cannot load it: {}", path, CAMBIUM_TORCH_VERSION, sentence_of(said)));
}

void refuse_answer(const std::string& path, const std::string& said) {
  throw InputError(fmt::format("{}: its program stopped: {}", path, sentence_of(said)));
}

}  // namespace cambium::train
