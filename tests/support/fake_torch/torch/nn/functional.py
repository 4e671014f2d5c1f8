import warnings


def scaled_dot_product_attention(q, k, v, is_causal=False, scale=None, enable_gqa=False):
    import torch
    from torch.nn import attention

    assert enable_gqa or q.shape[1] == k.shape[1]
    if attention.chosen not in attention.US:
        warnings.warn("cuDNN attention has been runtime disabled. (Triggered internally at sdp_utils.cpp:7)")
        raise RuntimeError("No available kernel. Aborting execution.\nmore")
    torch.cuda.spend(attention.US[attention.chosen])
    return torch.attention(q, k, v, is_causal, scale)
