// The CUPTI calls that app/cuda_api/cupti.cpp takes, for one GPU of the chip FAKE1. As strict as the library: a structure of
// another size than CUPTI 12.6 and 13.0 have (their headers' macros), a pointer that is null or of another object, or a call
// out of order is refused with the code that it would give. What it sees is in $ATTNSCOPE_FAKE_FAILS and in the variables
// below; a test reads fake_cupti_* through dlsym.
#include <math.h>
#include <signal.h>
#include <stdint.h>

#include "fails.h"

enum { invalid_parameter = 1, invalid_operation = 7, invalid_metric = 17 };

static struct { int begun, hosts, enabled, configured, started, pushed, decoded, launched_ranges, passes_done; } state;
int fake_cupti_in_range(void) { return state.pushed; }
int fake_cupti_open(void) { return state.hosts + state.enabled; }  // what was not given back
int fake_cupti_passes(void) { return state.passes_done; }

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}
static int is(const char* what) { return strcmp(setting("ATTNSCOPE_FAKE_CUPTI"), what) == 0; }

// The code that a call is refused with; 0: it is not.
static int refused(const char* call) {
  if (!fails(call)) return 0;
  if (is("kill")) raise(SIGKILL);
  const int code = atoi(setting("ATTNSCOPE_FAKE_CODE"));
  return code ? code : 999;
}

struct head { size_t size; void* reserved; };
static int sound(const void* params, size_t size) {
  const struct head* head = params;
  return head && head->size == size && head->reserved == 0;
}
#define BEGIN(call, size, order)                                     \
  if (refused(#call)) return refused(#call);                         \
  if (!sound(p, size)) return invalid_parameter;                     \
  if (!(order)) return invalid_operation;

static int host_object, range_object;
static const char config_bytes[] = "config";
enum { kConfig = sizeof config_bytes, kData = 64, kPasses = 3 };

int cuptiGetResultString(int code, const char** text) {
  *text = code == 35   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : code == 26 ? "CUPTI_ERROR_HARDWARE_BUSY"
          : code == 1  ? "CUPTI_ERROR_INVALID_PARAMETER"
          : code == 7  ? "CUPTI_ERROR_INVALID_OPERATION"
                       : 0;
  return *text ? 0 : 1;
}

int cuptiProfilerInitialize(struct head* p) {
  BEGIN(cuptiProfilerInitialize, 16, 1)
  memset(&state, 0, sizeof state);
  return state.begun = 1, 0;
}

struct supported { struct head head; int device, all, architecture, sli, vgpu, confidential, mining, wsl, api; };
int cuptiProfilerDeviceSupported(struct supported* p) {
  BEGIN(cuptiProfilerDeviceSupported, 52, state.begun)
  if (p->device != 0 || p->api != 0) return 2;
  p->all = p->architecture = p->sli = p->vgpu = p->confidential = p->mining = p->wsl = 3;
  if (is("vgpu")) p->all = 1, p->vgpu = 2;
  if (is("silent")) p->all = 1;
  return 0;
}

struct chip { struct head head; size_t device; const char* name; };
int cuptiDeviceGetChipName(struct chip* p) {
  BEGIN(cuptiDeviceGetChipName, 32, state.begun)
  return p->name = "FAKE1", p->device == 0 ? 0 : 2;
}

struct host { struct head head; int profiler; const char* chip; const uint8_t* availability; void* host; };
int cuptiProfilerHostInitialize(struct host* p) {
  BEGIN(cuptiProfilerHostInitialize, 48, state.begun)
  if (p->profiler != 0 || !p->chip || strcmp(p->chip, "FAKE1") != 0) return invalid_parameter;
  return p->host = &host_object, ++state.hosts, 0;
}
struct host_end { struct head head; void* host; };
int cuptiProfilerHostDeinitialize(struct host_end* p) {
  BEGIN(cuptiProfilerHostDeinitialize, 24, state.hosts > 0 && p->host == &host_object)
  return --state.hosts, 0;
}

static const char* const kMetrics[] = {
    "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "dram__bytes_op_read.sum",  // a newer chip's names
    "dram__bytes_op_write.sum",
};
static int index_of(const char* name) {
  for (int i = 0; i < (int)(sizeof kMetrics / sizeof *kMetrics); ++i)
    if (strcmp(name, kMetrics[i]) == 0 && strcmp(name, setting("ATTNSCOPE_FAKE_LACKS")) != 0 && !is("no metrics")) return i;
  return -1;
}

struct metrics { struct head head; void* host; const char** names; size_t count; };
int cuptiProfilerHostConfigAddMetrics(struct metrics* p) {
  BEGIN(cuptiProfilerHostConfigAddMetrics, 40, state.hosts > 0)
  if (p->host != &host_object || !p->names || p->count == 0) return invalid_parameter;
  for (size_t i = 0; i < p->count; ++i)
    if (index_of(p->names[i]) < 0) return invalid_metric;
  return 0;
}
struct config_size { struct head head; void* host; size_t bytes; };
int cuptiProfilerHostGetConfigImageSize(struct config_size* p) {
  BEGIN(cuptiProfilerHostGetConfigImageSize, 32, p->host == &host_object)
  return p->bytes = kConfig, 0;
}
struct config_image { struct head head; void* host; size_t bytes; uint8_t* image; };
int cuptiProfilerHostGetConfigImage(struct config_image* p) {
  BEGIN(cuptiProfilerHostGetConfigImage, 40, p->host == &host_object)
  if (p->bytes != kConfig || !p->image) return invalid_parameter;
  return memcpy(p->image, config_bytes, kConfig), 0;
}
static int is_config(size_t bytes, const uint8_t* image) {
  return bytes == kConfig && image && memcmp(image, config_bytes, kConfig) == 0;
}
struct passes { struct head head; size_t bytes; uint8_t* image; size_t passes; };
int cuptiProfilerHostGetNumOfPasses(struct passes* p) {
  BEGIN(cuptiProfilerHostGetNumOfPasses, 40, is_config(p->bytes, p->image))
  return p->passes = kPasses, 0;
}

struct enable { struct head head; void* context; void* ranges; };
int cuptiRangeProfilerEnable(struct enable* p) {
  BEGIN(cuptiRangeProfilerEnable, 32, state.begun && !state.enabled)
  if (!p->context) return 3;
  return p->ranges = &range_object, state.enabled = 1, 0;
}
struct range { struct head head; void* ranges; };
static int is_ours(const struct range* p) { return state.enabled && p->ranges == &range_object; }
int cuptiRangeProfilerDisable(struct range* p) {
  BEGIN(cuptiRangeProfilerDisable, 24, is_ours(p))
  state.configured = state.started = state.pushed = 0;
  return state.enabled = 0, 0;
}
struct data_size { struct range range; const char** names; size_t count, most_ranges; uint32_t most_nodes; size_t bytes; };
int cuptiRangeProfilerGetCounterDataSize(struct data_size* p) {
  BEGIN(cuptiRangeProfilerGetCounterDataSize, 64, is_ours(&p->range))
  if (!p->names || p->count == 0 || p->most_ranges == 0 || p->most_nodes < p->most_ranges) return invalid_parameter;
  return p->bytes = kData, 0;
}
struct data { struct range range; size_t bytes; uint8_t* image; };
int cuptiRangeProfilerCounterDataImageInitialize(struct data* p) {
  BEGIN(cuptiRangeProfilerCounterDataImageInitialize, 40, is_ours(&p->range))
  if (p->bytes != kData || !p->image) return invalid_parameter;
  return memset(p->image, 7, kData), 0;
}
struct config {
  struct range range;
  size_t config_bytes;
  const uint8_t* config;
  size_t data_bytes;
  uint8_t* data;
  int kind, replay;
  size_t most_ranges;
  uint16_t levels, least_level;
  size_t pass;
  uint16_t target_level;
};
static uint8_t* data_image;
int cuptiRangeProfilerSetConfig(struct config* p) {
  BEGIN(cuptiRangeProfilerSetConfig, 90, is_ours(&p->range))
  if (!is_config(p->config_bytes, p->config) || p->data_bytes != kData || !p->data || p->data[0] != 7) return invalid_parameter;
  if (p->kind != 2 || p->replay != 3 || p->most_ranges != 1 || p->levels != 1 || p->least_level != 1 || p->pass != 0)
    return invalid_parameter;  // user ranges, user replay
  return data_image = p->data, state.configured = 1, state.passes_done = 0, 0;
}
int cuptiRangeProfilerStart(struct range* p) {
  BEGIN(cuptiRangeProfilerStart, 24, is_ours(p) && state.configured && !state.started)
  return state.started = 1, 0;
}
struct push { struct range range; const char* name; };
int cuptiRangeProfilerPushRange(struct push* p) {
  BEGIN(cuptiRangeProfilerPushRange, 32, is_ours(&p->range) && state.started && !state.pushed)
  return p->name && *p->name ? (state.pushed = 1, 0) : invalid_parameter;
}
int cuptiRangeProfilerPopRange(struct range* p) {
  BEGIN(cuptiRangeProfilerPopRange, 24, is_ours(p) && state.pushed)
  return state.pushed = 0, 0;
}
struct stop { struct range range; size_t pass, level; uint8_t all; };
int cuptiRangeProfilerStop(struct stop* p) {
  BEGIN(cuptiRangeProfilerStop, 41, is_ours(&p->range) && state.started && !state.pushed)
  state.started = 0;
  p->pass = (size_t)++state.passes_done;
  return p->all = state.passes_done == kPasses && !is("endless"), 0;
}
struct decode { struct range range; size_t dropped; };
int cuptiRangeProfilerDecodeData(struct decode* p) {
  BEGIN(cuptiRangeProfilerDecodeData, 32, is_ours(&p->range) && state.passes_done == kPasses && !state.started)
  data_image[0] = 9;
  return p->dropped = is("dropped"), 0;
}
struct info { struct head head; const uint8_t* image; size_t bytes, ranges; };
int cuptiRangeProfilerGetCounterDataInfo(struct info* p) {
  BEGIN(cuptiRangeProfilerGetCounterDataInfo, 40, p->image == data_image && p->bytes == kData && data_image[0] == 9)
  return p->ranges = is("two ranges") ? 2 : 1, 0;
}
struct evaluate { struct head head; void* host; const uint8_t* image; size_t bytes, range; const char** names; size_t count; double* values; };
int cuptiProfilerHostEvaluateToGpuValues(struct evaluate* p) {
  BEGIN(cuptiProfilerHostEvaluateToGpuValues, 72, p->host == &host_object && p->image == data_image && data_image[0] == 9)
  if (p->bytes != kData || p->range != 0 || !p->names || !p->values || p->count == 0) return invalid_parameter;
  for (size_t i = 0; i < p->count; ++i) {
    const int at = index_of(p->names[i]);
    if (at < 0) return invalid_metric;
    p->values[i] = is("not a number") && at == 2 ? NAN : at < 4 ? 10.5 + at : 1000.0 * at;
  }
  return 0;
}
