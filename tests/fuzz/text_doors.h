#pragma once
#include <string>
#include <vector>

namespace attnscope::fuzz {

// Readers of texts and messages from outside. Each returns "" if it accepts `input`, else the Failure's message.
// Accepted input is written and read again where the program does so; a difference aborts.
std::string feed_preset(const std::string& input);      // over the shipped kernels
std::string feed_settings(const std::string& input);    // settings.json, its workers too
std::string feed_grid(const std::string& input);        // rbk_config.yaml and its problems
std::string feed_explained(const std::string& input);   // a cuBLAS call, resources, or what ncu wrote
std::string feed_manifest(const std::string& input);    // then its default config, launch and workload
std::string feed_source(const std::string& input);      // a .cu: blanked, imported, the manifest read
std::string feed_expression(const std::string& input);  // whole, condition, real and element
std::string feed_request(const std::string& input);     // what a worker reads: frames
std::string feed_reply(const std::string& input);       // what a session reads: frames, each part applied

// Seeds of the two protocol readers: one frame of every kind.
std::vector<std::string> request_seeds();
std::vector<std::string> reply_seeds();

}  // namespace attnscope::fuzz
