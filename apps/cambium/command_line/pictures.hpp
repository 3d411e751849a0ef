#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Arguments of `cambium plot` and `cambium movie`.
struct PictureOptions {
  std::string source;             ///< a file that a stage wrote, a run directory or the folder of a stage
  std::string output;             ///< picture or movie to write; for a folder, the folder to write them into
  std::vector<std::string> show;  ///< names of quantities; all where empty
  std::int64_t frame = -1;        ///< of a picture: index of the frame, from 0; negative ones count from the end
  bool frame_given = false;
  double fps = 10.0;       ///< of a movie: frames per second
  std::int64_t every = 1;  ///< of a movie: stride of frames
};

/// Arguments of `cambium watch`.
struct WatchOptions {
  std::string run, stage, page;
  std::vector<std::string> show;
  double interval = 2.0;  ///< seconds between updates
  bool once = false;
};

/// Follows a run with apps/python/watch.py, until it ends; any python3 will do. False if it failed with a message.
/// Called on one rank.
bool watch_run(const WatchOptions& options);

/// Draws with apps/python/draw.py, which needs a python3 with numpy, h5py and matplotlib (CAMBIUM_PYTHON, see
/// python_with()); `verb` is plot or movie. False if it failed with a message. Called on one rank. InputError if there
/// is no such file, no such Python, or for invalid options.
bool draw_pictures(const std::string& verb, const PictureOptions& options);

}  // namespace cambium
