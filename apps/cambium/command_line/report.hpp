#pragma once
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

/// Writes one self-contained HTML page about a run with apps/python/report.py, which needs a python3 with numpy, h5py
/// and matplotlib: $CAMBIUM_PYTHON, else the first of python3 and /usr/bin/python3 that has them. `page` empty:
/// RUN/report.html. Called on one rank. Throws InputError if there is no such Python or no such run; the message
/// explains what to install.
void write_report(const std::string& run, const std::string& page);

/// The same for a sweep whose results are written: the table of its runs and curves over the swept keys. `page` empty:
/// SWEEP/report.html.
void write_sweep_page(const std::string& sweep, const std::string& page);

/// The same at the end of a sweep; if no suitable Python is found, the log reports what is missing.
void try_sweep_page(const std::string& sweep, Log& log);

/// A page about several runs: keys of their decks that differ, scalars side by side, superimposed curves.
void write_comparison(const std::vector<std::string>& runs, const std::string& page, const Registry& registry);

/// A Python with numpy, h5py and matplotlib. InputError, with what to install, if there is none.
std::string drawing_python();

/// Exit status of a program, run without a shell; 127 if it cannot be started.
int run_program(const std::vector<std::string>& words);

}  // namespace cambium
