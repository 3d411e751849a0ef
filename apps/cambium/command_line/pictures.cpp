#include "apps/cambium/command_line/pictures.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "apps/cambium/command_line/report.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/shipped.hpp"

namespace cambium {

static void require_sense(const std::string& verb, const PictureOptions& options) {
  if (!std::filesystem::exists(options.source))
    throw InputError(
        fmt::format("there is no '{0}' to draw: name a file that a stage wrote, such as "
                    "runs/copper/simulate/thermo.csv, or a run directory; `cambium {1} --help` explains more",
                    options.source, verb));
  if (!(options.fps > 0.0 && options.fps <= 120.0))
    throw InputError(
        fmt::format("--fps is {:g}; a movie needs more than 0 and at most 120 frames per second", options.fps));
  if (options.every < 1)
    throw InputError(fmt::format("--every is {}; it is 1 for every snapshot, 2 for every second one", options.every));
}

bool draw_pictures(const std::string& verb, const PictureOptions& options) {
  require_sense(verb, options);
  std::vector<std::string> words = {drawing_python(), shared_folder("python") + "/draw.py", verb, options.source};
  if (!options.output.empty()) words.insert(words.end(), {"-o", options.output});
  if (options.frame_given) words.push_back(fmt::format("--frame={}", options.frame));
  if (verb == "movie")
    words.insert(words.end(), {fmt::format("--fps={}", options.fps), fmt::format("--every={}", options.every)});
  for (const auto& name : options.show) words.push_back("--show=" + name);
  const int status = run_program(words);
  if (status != 0 && status != static_cast<int>(ExitCode::bad_input))
    throw InputError(
        fmt::format("the {} could not be drawn; the reason is above", verb == "plot" ? "picture" : "movie"));
  return status == 0;
}

bool watch_run(const WatchOptions& options) {
  const char* given = std::getenv("CAMBIUM_PYTHON");
  std::vector<std::string> words = {given ? given : "python3", shared_folder("python") + "/watch.py", options.run};
  if (!options.stage.empty()) words.push_back("--stage=" + options.stage);
  if (!options.page.empty()) words.push_back("--page=" + options.page);
  if (!options.show.empty()) words.push_back("--show=" + join(options.show, ","));
  if (options.once) words.emplace_back("--once");
  words.push_back(fmt::format("--interval={}", options.interval));
  const int status = run_program(words);
  constexpr int not_found = 127;
  if (status == not_found) throw InputError("there is no python3, which draws the curves; name one in CAMBIUM_PYTHON");
  return status == 0;
}

}  // namespace cambium
