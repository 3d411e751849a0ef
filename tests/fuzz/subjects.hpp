#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/cambium/command_line/cli.hpp"
#include "core/parallel/comm.hpp"

namespace fuzz {

/// A file that is damaged and what is done with it.
struct Subject {
  enum class Form { text, bytes, h5 };
  std::string name;
  Form form = Form::text;
  std::filesystem::path folder;  ///< copied for each case; files that lie beside the damaged one
  std::string file;              ///< in `folder`: which one is damaged
  /// Done in the case's copy of the folder, which is the working directory: returns an exit code of the program, or
  /// throws what the program would catch.
  std::function<int()> act;
  int weight = 1;  ///< cases of this subject beside those of the others
};

/// What makes subjects: the sources of the project, and an empty folder for what has to be made first.
struct Places {
  std::filesystem::path source, made;
};

/// The command line of the program in this process; the exit code.
int command(std::vector<std::string> words);

/// A folder under `made` that holds a copy of `file`, and that copy's name.
std::filesystem::path folder_with(const Places& places, const std::string& name, const std::filesystem::path& file);

void core_subjects(const Places& places, std::vector<Subject>& out);
void deepmd_subjects(const Places& places, std::vector<Subject>& out);
void kinetic_subjects(const Places& places, std::vector<Subject>& out);
void podlstm_subjects(const Places& places, std::vector<Subject>& out);
void submatrix_subjects(const Places& places, std::vector<Subject>& out);
void superres_subjects(const Places& places, std::vector<Subject>& out);

/// Runs a deck in the folder `name` under `made`, once, and makes it look like a run that was killed after its last
/// checkpoint; then each of `files` in it, damaged, is a subject that is restarted.
void restarted_subjects(const Places& places, const std::string& name, const std::string& deck,
                        const std::vector<std::string>& files, std::vector<Subject>& out, int weight = 1);

}  // namespace fuzz
