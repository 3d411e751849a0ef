#include "apps/cambium/command_line/compress_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/arguments.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Folder of the filter for other programs: relative to the program, built or installed. Empty if it is not there.
std::string filter_folder() {
  const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::vector<fs::path> folders{prefix / "lib/hdf5", prefix / "lib/cambium/hdf5", prefix / "lib64/cambium/hdf5"};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", none))
    folders.push_back(entry.path() / "cambium/hdf5");
  for (const auto& folder : folders)
    if (fs::is_directory(folder)) return folder.string();
  return "";
}

/// key=value words as the map that a deck would hold.
io::Compression compression_of(const std::vector<std::string>& words) {
  std::string map;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throw InputError(fmt::format("'{}' is no key=value; write for example relative=1e-3", word));
    map += fmt::format("{}{}: {}", map.empty() ? "" : ", ", word.substr(0, equals), word.substr(equals + 1));
  }
  return deck::read<io::Compression>(deck::parse("{" + map + "}", "command line"));
}

void show(const std::vector<io::Recoded>& list, const std::string& to, Log& log) {
  double plain = 0.0, before = 0.0, after = 0.0;
  std::int64_t arrays = 0;
  for (const auto& set : list) {
    if (!set.kept.empty()) {
      log.info(fmt::format("  {:<40}is copied as it is: {}", set.path, set.kept));
      continue;
    }
    ++arrays;
    const double bytes = static_cast<double>(set.elements * set.bytes_per_value);
    log.info(fmt::format("  {:<40}{:>12.4g} MB{:>12.4g} MB stored, {:.3g} times smaller than its values", set.path,
                         bytes / 1e6, static_cast<double>(set.stored_after) / 1e6,
                         bytes / static_cast<double>(std::max<std::int64_t>(set.stored_after, 1))));
    plain += bytes;
    before += static_cast<double>(set.stored_before);
    after += static_cast<double>(set.stored_after);
  }
  log.info(fmt::format("{}: {} arrays of {:.4g} MB, stored in {:.4g} MB before and in {:.4g} MB now", to, arrays,
                       plain / 1e6, before / 1e6, after / 1e6));
}

/// Damage to the file that would not have been noticed.
void say_unverified(const std::vector<io::Recoded>& list, const std::string& from, Log& log) {
  std::string names;
  for (const auto& set : list)
    if (!set.verified) names += (names.empty() ? "" : ", ") + set.path;
  if (!names.empty())
    log.warn(
        fmt::format("'{}': an earlier version compressed {}, without a checksum of how: not verified", from, names));
  if (io::seal_of(from) == io::Seal::absent)
    log.info(
        fmt::format("'{}' has no checksum of the file, as `cambium compress` writes it: damage to what is not "
                    "compressed would not be noticed",
                    from));
}

int run_on_root(CLI::App& app, std::vector<std::string> arguments, Context& context,
                const std::function<void()>& action) {
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  io::on_root(context.comm, action);
  return static_cast<int>(ExitCode::done);
}

int compress(std::vector<std::string> arguments, Context& context) {
  CLI::App app("A copy of an HDF5 file whose real arrays are compressed within an error bound", "cambium compress");
  std::string from, to;
  std::vector<std::string> keys;
  std::int64_t fewest = 1024;
  app.add_option("file", from, "HDF5 file")->required();
  app.add_option("output", to, "file to write")->required();
  app.add_option("keys", keys, "key=value, the keys of a deck's 'compress': relative=1e-3 type=learned groups=10")
      ->required();
  app.add_option("--fewest", fewest, "arrays of fewer values are copied as they are")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  return run_on_root(app, std::move(arguments), context, [&] {
    const auto list = io::compress_file(from, to, compression_of(keys), fewest);
    show(list, to, context.log);
    if (list.empty()) {
      context.log.warn(
          fmt::format("'{}' holds no real array of {} values or more: the copy is not compressed; --fewest "
                      "sets that number",
                      from, fewest));
      return;
    }
    const std::string folder = filter_folder();
    context.log.info(
        folder.empty()
            ? "other programs read it after `cambium decompress`"
            : fmt::format("other programs read it with HDF5_PLUGIN_PATH={}, or after `cambium decompress {} OUT`",
                          folder, to));
  });
}

int decompress(std::vector<std::string> arguments, Context& context) {
  CLI::App app("A copy of a compressed HDF5 file that every program reads", "cambium decompress");
  std::string from, to;
  app.add_option("file", from, "HDF5 file that Cambium compressed")->required();
  app.add_option("output", to, "file to write")->required();
  return run_on_root(app, std::move(arguments), context, [&] {
    const auto list = io::decompress_file(from, to);
    show(list, to, context.log);
    say_unverified(list, from, context.log);
  });
}

}  // namespace

std::vector<Command> compress_commands() {
  return {
      {"core", "compress", "a copy of an HDF5 file whose real arrays are compressed within an error bound", compress},
      {"core", "decompress", "a copy of a compressed HDF5 file that every program reads", decompress}};
}

}  // namespace cambium
